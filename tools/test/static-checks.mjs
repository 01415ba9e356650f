// The static checks, as a process beside the tests. They take the processors where tests wait.
import { spawn } from 'node:child_process';

/** Ends a run of tests whose checks failed: what they found is the last that one reads. */
export function beginStaticChecks({ onFailure }) {
  const startMs = performance.now();
  const child = spawn('npm', ['run', '-s', 'static'], { stdio: ['ignore', 'pipe', 'pipe'] });
  process.on('exit', () => child.kill());
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => {
    child.on('close', (code) => {
      const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
      console.log(code === 0 ? `✔ types, lint, format (${seconds} s)` : `\n${output}\n✖ types, lint or format failed`);
      if (code !== 0) onFailure();
      resolve();
    });
  });
}
