// What a folder holds, as a page of links.
import { escapePath } from '../go/url-parts.js';

/** `names` of folders end with a slash. */
export function directoryPage(names: readonly string[]): string {
  const bare = (name: string): string => (name.endsWith('/') ? name.slice(0, -1) : name);
  const sorted = [...names].sort((a, b) => Buffer.compare(Buffer.from(bare(a)), Buffer.from(bare(b))));
  const links = sorted.map((name) => `<a href="${linkTo(name)}">${forHtml(name)}</a>\n`).join('');
  return `<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${links}</pre>\n`;
}

/** What a colon comes before would be parsed as a scheme. */
const linkTo = (name: string): string => (name.includes(':') ? './' : '') + escapePath(name);

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

const forHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
