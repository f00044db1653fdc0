// one: a person or thing: observations, relations, and what could be tidied up.
import { html } from "htm/preact";
import { call } from "../../api.js";
import { forget } from "../../changes.js";
import { useLoad } from "../../load.js";
import { ButtonLink } from "../../parts/button.js";
import { Chip, StateChips } from "../../parts/chip.js";
import { Page } from "../../parts/page.js";
import { Menu } from "../../parts/picker.js";
import { Empty, Failed, Loading } from "../../parts/states.js";
import { Time } from "../../parts/time.js";
import { go, href } from "../../router.js";
import { plain } from "../../words.js";
import { typeChip } from "./list.js";
import { Observations } from "./observations.js";
import { Relations } from "./relations.js";
import { Repetitions } from "./repetitions.js";
import { Split } from "./split.js";

const MOST_OBSERVATIONS = 2000;

export function One({ id }) {
  const from = useLoad((aborts) => load(id, aborts), id);
  const back = html`<${ButtonLink} small icon="left" href=${href("entities")}>All entities<//>`;
  if (from.value === undefined) {
    return html`<${Page} title="Entities" actions=${back}>
      ${from.error ? html`<${Failed} error=${from.error} retry=${from.reload} />` : html`<${Loading} lines="7" />`}
    <//>`;
  }
  if (!from.value.entity) {
    return html`<${Page} title="Not found" actions=${back}><${Empty} icon="entity" title="There is nothing of this name any more" /><//>`;
  }
  const { entity, observations, relations } = from.value;
  const current = observations.filter((memory) => memory.forgotten_at == null && !memory.superseded_by);
  const actions = [
    { text: "Open as a memory", icon: "note", run: () => go(href("memory", id)) },
    { text: "Show on the map", icon: "map", run: () => go(href("map", { at: id })) },
    { text: "Show as a tree", icon: "tree", run: () => go(href("trees", id)) },
    null,
    { text: "Forget", icon: "trash", danger: true, run: async () => (await forget([entity]))?.value && go(href("entities")) },
  ];
  return html`<${Page} title=${entity.title} actions=${html`${back}<${Menu} label="More" actions=${actions} />`}>
    <div class="meta entity-meta">
      ${typeChip(entity)}<${StateChips} memory=${entity} />
      ${entity.status && entity.status !== "active" && html`<${Chip}>${plain(entity.status)}<//>`}
      <span>Changed <${Time} at=${entity.updated_at} /></span>
      <span>${entity.last_accessed_at ? html`Used <${Time} at=${entity.last_accessed_at} />` : "Not used yet"}</span>
    </div>
    <div class="entity-page">
      <div class="stack">
        <${Observations} entity=${entity} current=${current} all=${observations} onChange=${from.reload} />
      </div>
      <div class="stack">
        <${Relations} entity=${entity} bonds=${relations} onChange=${from.reload} />
        <${Split} key=${`split ${current.length}`} entity=${entity} size=${current.length} onChange=${from.reload} />
        <${Repetitions} key=${`same ${current.length}`} entity=${entity} size=${current.length} onChange=${from.reload} />
      </div>
    </div>
  <//>`;
}

async function load(id, signal) {
  const found = await call("select", { where: { ids: [id], superseded: true, forgotten: true }, limit: 1 }, { signal });
  if (found.error) return found;
  const [entity = null] = found.value;
  if (!entity) return { value: { entity } };
  const below = { kinds: ["observation"], under: id, superseded: true, forgotten: true };
  const answers = await Promise.all([
    call("select", { where: below, limit: MOST_OBSERVATIONS }, { signal }),
    call("relations", { entity }, { signal }),
  ]);
  const failed = answers.find((answer) => answer.error);
  if (failed) return failed;
  const [{ value: observations }, { value: relations }] = answers;
  return { value: { entity, observations, relations } };
}
