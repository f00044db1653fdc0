// width: whether the page is too narrow for two columns.
import { useEffect, useState } from "preact/hooks";

const NARROW = "(max-width: 60rem)";

/** Whether the window is narrow now; `query` is another condition. */
export function useNarrow(query = NARROW) {
  const [narrow, setNarrow] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const change = () => setNarrow(media.matches);
    media.addEventListener("change", change);
    return () => media.removeEventListener("change", change);
  }, [query]);
  return narrow;
}
