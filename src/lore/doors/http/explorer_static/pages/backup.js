// backup: all memories as a file, and files of memories or conversations to import.
import { html } from "htm/preact";
import { may } from "../api.js";
import { Page } from "../parts/page.js";
import { Empty } from "../parts/states.js";
import { Export } from "./backup/export.js";
import { Import } from "./backup/import.js";

const ABOUT = "Save memories to a file, or import them from one.";

export default function Backup() {
  if (!may("admin")) {
    return html`<${Page} title="Backup" about=${ABOUT}>
      <${Empty} icon="lock" title="Only for administrators"><p>Sign in with a token that has the right “admin” to export or import memories.</p><//>
    <//>`;
  }
  return html`<${Page} title="Backup" about=${ABOUT}><${Export} /><${Import} /><//>`;
}
