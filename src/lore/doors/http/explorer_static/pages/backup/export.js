// export: a file with everything that the reader sees.
import { html } from "htm/preact";
import { useState } from "preact/hooks";
import { apiAddress, session } from "../../api.js";
import { count } from "../../format.js";
import { useVerb } from "../../load.js";
import { ButtonLink } from "../../parts/button.js";
import { Check } from "../../parts/field.js";
import { Section } from "../../parts/page.js";

export function Export() {
  const [options, setOptions] = useState({ compressed: true, history: false });
  const { value: status } = useVerb("status");
  const everything = session.get()?.every_namespace !== false;
  const set = (name) => (on) => setOptions({ ...options, [name]: on });
  const wanted = Object.entries(options).filter(([, on]) => on).map(([name]) => [name, "1"]);
  const query = new URLSearchParams(wanted).toString();
  return html`<${Section} title="Export">
    <div class="stack">
      <p class="soft">
        One file of JSON lines with ${status ? count(status.counts.memories, "memory", "memories") : "all memories"}, their links and their texts
        ${everything ? " of all namespaces" : " of the namespaces that you see"}. It can be read by people and programs, and imported again here or elsewhere.
      </p>
      <div class="row wrap backup-options">
        <${Check} label="Compressed (gzip)" checked=${options.compressed} onChange=${set("compressed")} />
        ${everything && html`<${Check} label="With the history of all changes" checked=${options.history} onChange=${set("history")} />`}
      </div>
      <div class="row"><${ButtonLink} icon="download" look="main" download href=${apiAddress(`export${query && `?${query}`}`)}>Export to a file<//></div>
    </div>
  <//>`;
}
