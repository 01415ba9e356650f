// Sorting in place what is mostly a handful, by insertion: the engine's own sort first copies even two of them.

/** Of more, the engine's own sort is the quicker one. */
const FEW = 16;

// hot: for every map of names that is written or checked.
/** By UTF-16, as the engine sorts texts. */
export function sortTexts(texts: string[]): string[] {
  if (texts.length > FEW) return texts.sort();
  for (let end = 1; end < texts.length; end++) {
    const text = texts[end] as string;
    let at = end;
    for (; at > 0 && (texts[at - 1] as string) > text; at--) texts[at] = texts[at - 1] as string;
    texts[at] = text;
  }
  return texts;
}

/** What is equal stays in its order. */
export function sortItems<T>(items: T[], compare: (left: T, right: T) => number): T[] {
  if (items.length > FEW) return items.sort(compare);
  for (let end = 1; end < items.length; end++) {
    const item = items[end] as T;
    let at = end;
    for (; at > 0 && compare(items[at - 1] as T, item) > 0; at--) items[at] = items[at - 1] as T;
    items[at] = item;
  }
  return items;
}
