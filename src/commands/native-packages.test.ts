// What an install brings beside the program has a prebuilt part for each machine that is promised.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

interface Locked {
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly cpu?: readonly string[];
  readonly os?: readonly string[];
  readonly integrity?: string;
}

test('every native dependency is locked with a build for x86-64 and for arm64', () => {
  const file = path.join(process.env['BINNACLE_ROOT'] ?? process.cwd(), 'package-lock.json');
  const { packages } = JSON.parse(fs.readFileSync(file, 'utf8')) as { packages: Record<string, Locked> };
  const found: string[] = [];
  const visited = new Set<string>();
  const visit = (name: string): void => {
    if (visited.has(name)) return;
    visited.add(name);
    const { dependencies = {}, optionalDependencies = {} } = packages[`node_modules/${name}`] ?? {};
    const builds = Object.keys(optionalDependencies)
      .map((build) => packages[`node_modules/${build}`])
      .filter((build) => build?.cpu !== undefined);
    if (builds.length > 0) {
      found.push(name);
      for (const cpu of ['x64', 'arm64']) {
        const build = builds.find((one) => one?.cpu?.includes(cpu) && one.os?.includes('linux'));
        assert.match(build?.integrity ?? '', /^sha512-/, `${name} for ${cpu}`);
      }
    }
    for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies })) visit(dependency);
  };
  for (const name of Object.keys(packages['']?.dependencies ?? {})) visit(name);
  assert.ok(found.includes('lmdb'), found.join());
});
