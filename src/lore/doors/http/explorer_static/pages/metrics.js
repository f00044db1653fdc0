// metrics: how often and how fast Lore answers, and how well its searches find.
import { html } from "htm/preact";
import { useEffect } from "preact/hooks";
import { momentOf } from "../format.js";
import { useGet } from "../load.js";
import { Button } from "../parts/button.js";
import { Page } from "../parts/page.js";
import { Empty, Loaded } from "../parts/states.js";
import { Calls } from "./metrics/calls.js";
import { Hours } from "./metrics/hours.js";
import { Totals } from "./metrics/totals.js";

const AGAIN_MILLISECONDS = 10_000;

export default function Metrics() {
  const load = useGet("metrics");
  useEffect(() => {
    const timer = setInterval(() => document.hidden || load.reload(), AGAIN_MILLISECONDS);
    return () => clearInterval(timer);
  }, [load.reload]);
  const about = `How often and how fast Lore answers, and how well its searches find${load.value ? `, since ${momentOf(load.value.since)}` : ""}.`;
  return html`<${Page} title="Metrics" about=${about} actions=${html`<${Button} icon="refresh" onClick=${load.reload}>Refresh<//>`}>
    <${Loaded} from=${load} lines="8">
      ${(metrics) => (metrics.calls.length
        ? html`<${Totals} metrics=${metrics} /><${Hours} metrics=${metrics} /><${Calls} calls=${metrics.calls} />`
        : html`<${Empty} icon="chart" title="No calls yet"><p>Figures appear as soon as an agent, a program or one of these pages asks Lore something. They begin at zero when Lore starts.</p><//>`)}
    <//>
  <//>`;
}
