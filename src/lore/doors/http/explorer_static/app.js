// app: the start of the explorer: who is reading, then the shell.
import { html, render } from "htm/preact";
import { loadSession } from "./api.js";
import { connect } from "./live.js";
import { pageOf } from "./pages.js";
import { currentRoute } from "./router.js";
import { Shell } from "./shell.js";

const root = document.getElementById("app");

async function start() {
  pageOf(currentRoute().page)?.load().catch(() => {}); // the page comes while the session is asked for
  const { error } = await loadSession();
  if (!error || error.status === 404) connect();
  root.replaceChildren();
  render(html`<${Shell} />`, root);
}

start();
