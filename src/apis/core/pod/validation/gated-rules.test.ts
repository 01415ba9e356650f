// Rules of pods that feature gates loosen, at a release where they were still narrow.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podStrategy } from '../strategy.js';
import { NO_ERRORS, testContext, testPod, texts } from '../testing.js';

const OLD = 32;
const errorsOf = (spec: object, gates: Readonly<Record<string, boolean>> = {}, old?: object): string[] => {
  const context = testContext(gates, OLD);
  return texts(
    old === undefined
      ? podStrategy.validate(testPod(spec), context)
      : podStrategy.validateUpdate(testPod(spec), testPod(old), context, NO_ERRORS),
  );
};
const named = (...names: string[]) => ({
  containers: [{ name: 'a', image: 'a', env: names.map((name) => ({ name, value: 'v' })) }],
});
const searching = (...searches: string[]) => ({ dnsConfig: { searches } });
const sleeping = (seconds: number) => ({
  containers: [{ name: 'a', image: 'a', lifecycle: { preStop: { sleep: { seconds } } } }],
});

test('names of variables are checked narrowly without the gate, but for those that were there', () => {
  const off = { RelaxedEnvironmentVariableValidation: false };
  assert.deepEqual(errorsOf(named('a b'), { RelaxedEnvironmentVariableValidation: true }), []);
  const [error = ''] = errorsOf(named('a b'), off);
  assert.match(
    error,
    /^spec\.containers\[0\]\.env\[0\]\.name: Invalid value: "a b": a valid environment variable name must/,
  );
  assert.match(error, /regex used for validation is '\[-\._a-zA-Z\]\[-\._a-zA-Z0-9\]\*'/);
  assert.equal(errorsOf(named('..a'), off).length, 1);
  assert.deepEqual(errorsOf(named('a b'), off, named('a b')), []);
  const names = (errors: readonly string[]): string[] => errors.filter((each) => each.includes('env[0].name'));
  assert.equal(names(errorsOf(named('c d'), off, named('a b'))).length, 1);
});

test('searches may have underscores or be a dot with the gate, or where they were so', () => {
  const [on, off] = [{ RelaxedDNSSearchValidation: true }, { RelaxedDNSSearchValidation: false }];
  assert.deepEqual(errorsOf(searching('.', '_tcp.example.test'), on), []);
  assert.equal(errorsOf(searching('.', '_tcp.example.test'), off).length, 2);
  assert.deepEqual(errorsOf(searching('.'), off, searching('.')), []);
});

test('a hook may sleep for no time with the gate, or where it did', () => {
  assert.deepEqual(errorsOf(sleeping(0), { PodLifecycleSleepActionAllowZero: true }), []);
  assert.deepEqual(errorsOf(sleeping(0), {}, sleeping(0)), []);
  assert.deepEqual(errorsOf(sleeping(0)), [
    'spec.containers[0].lifecycle.preStop.sleep: Invalid value: 0: must be greater than 0 and less than terminationGracePeriodSeconds (30). Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.',
  ]);
});

test('the warning about gitRepo volumes says whether they are disabled', () => {
  const pod = testPod({ volumes: [{ name: 'v', gitRepo: { repository: 'r' } }] });
  const warning = (minor: number): string[] =>
    [...(podStrategy.warningsOnCreate?.(pod, testContext({}, minor)) ?? [])].filter((text) => text.includes('gitRepo'));
  assert.deepEqual(warning(32), ['spec.volumes[0].gitRepo: deprecated in v1.11']);
  assert.deepEqual(warning(33), ['spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+']);
});
