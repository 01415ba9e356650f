// The commands of a page: ```sh blocks are scripts, ```console blocks have commands after `$ ` and what they print.
export interface Step {
  /** The heading above it. */
  readonly section: string;
  readonly command: string;
  /** What it prints, where the page shows that. */
  readonly output?: string;
}

export function commandsOf(page: string): Step[] {
  const steps: Step[] = [];
  let section = '';
  let block: { readonly kind: string; readonly lines: string[] } | undefined;
  for (const line of page.split('\n')) {
    if (block !== undefined && line === '```') {
      if (block.kind === 'sh') steps.push({ section, command: block.lines.join('\n') });
      if (block.kind === 'console') steps.push(...session(section, block.lines));
      block = undefined;
    } else if (block !== undefined) block.lines.push(line);
    else if (line.startsWith('```')) block = { kind: line.slice(3), lines: [] };
    else if (line.startsWith('#')) section = line.replace(/^#+ /, '');
  }
  return steps;
}

function session(section: string, lines: readonly string[]): Step[] {
  const starts = lines.flatMap((line, at) => (line.startsWith('$ ') ? [at] : []));
  return starts.map((at, i) => ({
    section,
    command: lines[at]?.slice(2) ?? '',
    output: lines.slice(at + 1, starts[i + 1]).join('\n'),
  }));
}
