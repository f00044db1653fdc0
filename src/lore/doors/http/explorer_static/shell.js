// shell: the frame around every page: navigation, the page itself, and what lies above it.
import { html } from "htm/preact";
import { Component } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { locked } from "./api.js";
import { Compose, composing } from "./compose.js";
import { Help } from "./help.js";
import { useKeys } from "./keys.js";
import { PhoneBar, Side } from "./navigation.js";
import { PAGES, pageOf } from "./pages.js";
import { Palette } from "./palette.js";
import { Questions } from "./parts/dialog.js";
import { Page } from "./parts/page.js";
import { Empty, Failed, Loading } from "./parts/states.js";
import { Toasts } from "./parts/toast.js";
import { go, href, useRoute } from "./router.js";
import { useSignal } from "./signal.js";
import { SignIn } from "./signin.js";
import { switchTheme } from "./theme.js";

export function Shell() {
  const route = useRoute();
  const [open, setOpen] = useState("");
  const main = useRef(null);
  useGlobalKeys(setOpen);
  useNewPage(route, main);
  const adding = useSignal(composing);
  const closed = useSignal(locked);
  if (closed || route.page === "sign-in") return html`<${SignIn} />`;
  return html`<a class="skip" href="#main" onClick=${(event) => (event.preventDefault(), main.current.focus())}>Skip to the page</a>
    <div class="shell">
      <${Side} page=${route.page} onPalette=${() => setOpen("palette")} onHelp=${() => setOpen("help")} />
      <main class="main" id="main" tabindex="-1" ref=${main}>
        <${Caught} key=${route.page}><${View} route=${route} /><//>
      </main>
      <${PhoneBar} page=${route.page} onHelp=${() => setOpen("help")} />
    </div>
    ${open === "palette" && html`<${Palette} onClose=${() => setOpen("")} onHelp=${() => setOpen("help")} />`}
    ${open === "help" && html`<${Help} onClose=${() => setOpen("")} />`}
    ${adding && html`<${Compose} start=${adding} />`}
    <${Questions} />
    <${Toasts} />`;
}

function useGlobalKeys(setOpen) {
  const group = "Everywhere";
  useKeys([
    { keys: "mod+k", label: "Search, go, or do something", group, typing: true, run: () => setOpen("palette") },
    { keys: "/", label: "Search", group, run: () => go(href("search")) },
    { keys: "n", label: "Add a memory", group, run: () => composing.set({}) },
    { keys: "t", label: "Light or dark", group, run: switchTheme },
    { keys: "?", label: "These shortcuts", group, run: () => setOpen("help") },
    ...PAGES.filter((page) => page.keys).map((page) => ({
      keys: page.keys,
      label: page.title,
      group: "Go to",
      run: () => go(href(...[page.path].filter(Boolean))),
    })),
  ]);
}

/** A new page gets the focus, so that the next Tab is on it and screen readers say where they are. */
function useNewPage(route, main) {
  const first = useRef(true);
  const address = [route.page, ...route.rest].join("/");
  useEffect(() => {
    if (first.current) first.current = false;
    else if (!document.querySelector("dialog:modal")) main.current?.focus({ preventScroll: true });
  }, [address]);
}

function View({ route }) {
  const page = pageOf(route.page);
  const [loaded, setLoaded] = useState({});
  useEffect(() => {
    let current = true;
    const done = (result) => current && setLoaded({ path: route.page, ...result });
    page?.load().then(
      (module) => done({ Shown: module.default }),
      () => done({ error: { kind: "Failed", message: "This page could not be loaded. Is Lore still running?" } }),
    );
    return () => (current = false);
  }, [route.page]);
  if (!page) {
    return html`<${Page} title="No such page">
      <${Empty} icon="search" title="There is nothing at this address">
        <p><a href=${href()}>Go home</a></p>
      <//>
    <//>`;
  }
  if (loaded.path !== route.page) return html`<${Page} title=${page.title}><${Loading} lines="6" /><//>`;
  if (loaded.error) return html`<${Page} title=${page.title}><${Failed} error=${loaded.error} retry=${() => location.reload()} /><//>`;
  return html`<${loaded.Shown} key=${route.rest.join("/")} route=${route} />`;
}

/** A fault in a page leaves the rest standing. */
class Caught extends Component {
  static getDerivedStateFromError(problem) {
    return { problem };
  }

  componentDidCatch(problem) {
    console.error(problem);
  }

  render({ children }, { problem }) {
    if (!problem) return children;
    const error = { kind: "Failed", message: "Something in this page broke. Loading it again often helps." };
    return html`<${Page} title="This page broke"><${Failed} error=${error} retry=${() => location.reload()} /><//>`;
  }
}
