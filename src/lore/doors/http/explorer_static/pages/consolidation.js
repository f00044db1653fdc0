// consolidation: what Lore does with memories in the background: its state, a plan, and the runs before.
import { html } from "htm/preact";
import { useEffect, useState } from "preact/hooks";
import { may, request } from "../api.js";
import { onEvent } from "../live.js";
import { useGet } from "../load.js";
import { Button } from "../parts/button.js";
import { Page } from "../parts/page.js";
import { Loaded } from "../parts/states.js";
import { tellError } from "../parts/toast.js";
import { Now } from "./consolidation/now.js";
import { Plan } from "./consolidation/plan.js";
import { Runs } from "./consolidation/runs.js";

const ABOUT = "Like sleep: Lore learns from conversations, joins what belongs together, resolves contradictions and lets fade what nobody needs.";
const AT_WORK = ["running", "planning"];

export default function Consolidation() {
  const state = useConsolidation();
  const isAtWork = AT_WORK.includes(state.value?.state);
  const begin = async (phases = []) => {
    const { value, error } = await request("POST", "consolidation/run", { json: { phases } });
    if (error) tellError(error);
    else state.setValue((old) => ({ ...old, report: undefined, plan: undefined, ...value }));
  };
  const stop = async () => {
    const { error } = await request("POST", "consolidation/stop");
    if (error) tellError(error);
  };
  const action = isAtWork
    ? html`<${Button} icon="stop" onClick=${stop}>Stop<//>`
    : html`<${Button} look="main" icon="play" disabled=${!state.value || state.value.busy} onClick=${() => begin()}>Run now<//>`;
  return html`<${Page} title="Consolidation" about=${ABOUT} actions=${may("admin") && action}>
    <${Loaded} from=${state} lines="8">
      ${(value) => html`<${Now} state=${value} isAtWork=${isAtWork} />
        ${may("admin") && html`<${Plan} state=${value} isAtWork=${isAtWork} onPlan=${() => plan(state)} onRun=${begin} />`}
        <${Runs} runs=${value.runs} phases=${value.known_phases} />`}
    <//>
  <//>`;
}

/** The state as `useLoad` has it, or the last event of the server where that is newer: answers and events
 * may overtake each other. */
function useConsolidation() {
  const load = useGet("consolidation");
  const [event, setEvent] = useState(null);
  const isNewer = event && load.value && event.revision > load.value.revision;
  useEffect(() => onEvent("consolidation", setEvent), []);
  useEffect(() => {
    if (isNewer && !AT_WORK.includes(event.state)) load.reload();
  }, [event]);
  return isNewer ? { ...load, value: { ...load.value, ...event } } : load;
}

async function plan(state) {
  const { value, error } = await request("POST", "consolidation/plan");
  if (error) tellError(error);
  else state.setValue((old) => ({ ...old, report: undefined, ...value }));
}
