// filters: which memories count: by project, kind, type, time, trust and state.
import { html } from "htm/preact";
import { useVerb } from "../../load.js";
import { Button } from "../../parts/button.js";
import { Picker } from "../../parts/picker.js";
import { setParams } from "../../router.js";
import { kindsName, OWN_TYPES, projectName, typeName } from "../../words.js";
import { listOf } from "./results_load.js";

const NAMES = ["project", "kind", "type", "days", "trust", "state"];
const TIMES = [["1", "Today"], ["7", "Last 7 days"], ["30", "Last 30 days"], ["365", "Last year"]];
const TRUST = [["trusted", "Only what you said or stored"], ["second", "Also what agents said"]];
const STATES = [["replaced", "With replaced ones"], ["forgotten", "With forgotten ones"]];

export function Filters({ params }) {
  const { value: status } = useVerb("status", {}, { live: false });
  const counted = (counts = {}, name) =>
    Object.entries(counts).filter(([one]) => one).sort(([, one], [, other]) => other - one).map(([one, count]) => [one, name(one), count]);
  const bind = (name) => ({ value: listOf(params[name]), onChange: (chosen) => setParams({ [name]: chosen.join(",") }, {}) });
  const active = NAMES.some((name) => params[name]);
  return html`<div class="row wrap filters" role="group" aria-label="Filters">
    <${Picker} label="Project" icon="folder" options=${counted(status?.counts.projects, projectName)} ...${bind("project")} />
    <${Picker} label="Kind" icon="note" options=${counted(status?.counts.kinds, kindsName)} ...${bind("kind")} />
    <${Picker} label="Type" icon="spark" options=${OWN_TYPES.map((one) => [one, typeName(one)])} ...${bind("type")} />
    <${Picker} label="Time" icon="clock" single noneText="Any time" options=${TIMES} ...${bind("days")} />
    <${Picker} label="Trust" icon="shield" single options=${TRUST} ...${bind("trust")} />
    <${Picker} label="State" icon="replace" noneText="Current" options=${STATES} ...${bind("state")} />
    ${active && html`<${Button} small look="quiet" onClick=${() => setParams(Object.fromEntries(NAMES.map((name) => [name, ""])), {})}>Clear all<//>`}
  </div>`;
}
