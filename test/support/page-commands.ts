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
  const steps: { section: string; command: string[]; output: string[] }[] = [];
  for (const line of lines) {
    const step = steps.at(-1);
    if (step !== undefined && step.output.length === 0 && isOpen(step.command)) step.command.push(line);
    else if (line.startsWith('$ ')) steps.push({ section, command: [line.slice(2)], output: [] });
    else step?.output.push(line);
  }
  return steps.map(({ command, output }) => ({ section, command: command.join('\n'), output: output.join('\n') }));
}

/** The shell would read on: after a backslash, or within a here-document. */
function isOpen(command: readonly string[]): boolean {
  const [first = ''] = command;
  const [, end] = /<<'?([A-Z]+)'?$/.exec(first) ?? [];
  if (end !== undefined) return command.at(-1) !== end;
  return command.at(-1)?.endsWith('\\') === true;
}

/**
 * Whether this is what a page shows: `…` stands for anything, `~` for a home, columns may be wider, and ages and times
 * are of another moment.
 */
export function isAsShown(shown: string, printed: string): boolean {
  const pattern = shown
    .trim()
    .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('…', String.raw`[\s\S]*`)
    .replaceAll('~', String.raw`\S*`)
    .replaceAll(/ {2,}/g, ' +')
    .replaceAll(/(?<= |\+)\d+s$/gm, String.raw`[\dms]+`);
  return new RegExp(`^${pattern}$`).test(printed.trim().replaceAll(/ +$/gm, ''));
}
