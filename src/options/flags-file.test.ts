import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseCommandLine } from './parse-command-line.js';

describe('--flags-file', () => {
  let folder: string;
  before(() => (folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-flags-'))));
  after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const parse = (text: string, ...argv: string[]) => {
    const file = path.join(folder, 'flags');
    fs.writeFileSync(file, text);
    return parseCommandLine([`--flags-file=${file}`, ...argv], { HOME: '/home/me' });
  };
  const options = (text: string, ...argv: string[]) => {
    const parsed = parse(text, ...argv);
    return parsed.kind === 'run' ? parsed.options : assert.fail(JSON.stringify(parsed));
  };
  const refusal = (text: string, ...argv: string[]) => {
    const parsed = parse(text, ...argv);
    return parsed.kind === 'refused' ? parsed.lines.join('\n').replaceAll(folder, '') : assert.fail('accepted');
  };

  it('has a flag in each line, as it is', () => {
    const { dataDir, secureServing } = options('# where\n\n  --secure-port=7443\r\n--data-dir=/var/lib/a folder "x"\n');
    assert.equal(secureServing.securePort, 7443);
    assert.equal(dataDir, '/var/lib/a folder "x"');
  });

  it('gives way to the command line', () => {
    assert.equal(options('--secure-port=7443\n', '--secure-port=8443').secureServing.securePort, 8443);
  });

  it('names itself in what is wrong with it', () => {
    assert.equal(
      refusal('--secure-prot=1\n'),
      'Error: /flags: unknown flag: --secure-prot\nDid you mean --secure-port?',
    );
    assert.match(
      refusal('secure-port=1\n'),
      /^Error: \/flags: a line is a flag with its value, as --name=value: secure-port=1$/,
    );
    assert.match(refusal('--\n'), /a line is a flag/);
    assert.match(refusal('--flags-file=/x\n'), /^Error: \/flags: a file of flags names no other: /);
    assert.match(refusal('--secure-port\n'), /^Error: \/flags: flag needs an argument: --secure-port$/);
    assert.match(refusal(`--v=1\n${'#'.repeat(2 ** 20)}`), /is larger than/);
    assert.equal(
      refusal('', '--flags-file', '/no/such'),
      'Error: --flags-file: stat /no/such: no such file or directory',
    );
  });
});
