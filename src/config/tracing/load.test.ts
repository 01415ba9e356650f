import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { loadTracing } from './load.js';

test('a tracing configuration is accepted, or refused with all its errors', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tracing-'));
  const file = path.join(folder, 'config');
  const load = (text: string): unknown => {
    fs.writeFileSync(file, text);
    return loadTracing(file);
  };
  assert.deepEqual(load('endpoint: localhost:4317\nsamplingRatePerMillion: 10'), {
    endpoint: 'localhost:4317',
    samplingRatePerMillion: 10,
  });
  assert.throws(() => load('samplingRatePerMillion: 1000001\nendpoint: http://x:1'), {
    message:
      /^failed to validate tracing configuration: \[samplingRatePerMillion: Invalid value: 1000001: .*, endpoint: Invalid value: "http:\/\/x:1": unsupported scheme: http\./,
  });
  assert.throws(() => load('apiVersion: apiserver.k8s.io/v1beta1\nkind: TracingConfiguration'), {
    message:
      /^failed to read tracing config: unable to decode tracing configuration data: no kind "TracingConfiguration"/,
  });
  assert.throws(() => load('apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration'), {
    message:
      /data: converting \(v1\.AuthenticationConfiguration\) to \(apiserver\.TracingConfiguration\): unknown conversion$/,
  });
  assert.throws(() => load('more: 1'), { message: /strict decoding error: unknown field "more"/ });
  fs.rmSync(folder, { recursive: true });
  assert.throws(() => loadTracing(file), {
    message: /^failed to read tracing config: unable to read tracing configuration from "/,
  });
});
