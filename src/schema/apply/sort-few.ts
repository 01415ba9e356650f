/** Sorts a handful of texts in place, by insertion: the engine's own sort first copies even two of them. */
// hot: on every create, for every level of the object.
export function sortFew(texts: string[]): string[] {
  for (let end = 1; end < texts.length; end++) {
    const text = texts[end] as string;
    let at = end;
    while (at > 0 && (texts[at - 1] as string) > text) {
      texts[at] = texts[at - 1] as string;
      at--;
    }
    texts[at] = text;
  }
  return texts;
}
