import assert from 'node:assert/strict';
import os from 'node:os';
import { test } from 'node:test';
import { parseCommandLine } from './parse-command-line.js';
import { assemblyMistake, workError } from './startup-checks.js';

const ENV = { HOME: '/home/me' };
const parse = (...argv: string[]) => parseCommandLine(argv, ENV);
const run = (...argv: string[]) => {
  const parsed = parse(...argv);
  return parsed.kind === 'run' ? parsed.options : assert.fail(JSON.stringify(parsed));
};
const refusal = (...argv: string[]) => {
  const parsed = parse(...argv);
  if (parsed.kind !== 'refused') return 'accepted';
  assert.equal(parsed.exitCode, 1);
  const line = parsed.lines.at(-1) ?? '';
  const quoted = /"command failed" err=(".*?(?<!\\)")(?: flag="[^"]*"(?: file="[^"]*")?)?$/.exec(line)?.[1];
  return quoted === undefined ? line : (JSON.parse(quoted) as string);
};

test('no flag at all is a working server on the embedded store, with generated keys', () => {
  const options = run();
  assert.equal(options.embeddedStore, true);
  assert.equal(options.dataDir, '/home/me/.local/state/binnacle');
  assert.deepEqual(options.generate, { servingCertificate: true, clientCa: true, serviceAccountKeys: true });
  assert.deepEqual(options.authentication.serviceAccountIssuer, ['https://kubernetes.default.svc.cluster.local']);
  assert.deepEqual(options.controllers, []);
});

test('where everything is allowed, nobody is anonymous', () => {
  assert.equal(run().authentication.anonymousAuth, false);
  assert.equal(run('--authorization-mode=RBAC').authentication.anonymousAuth, true);
});

test('with store servers the service-account flags are required', () => {
  assert.equal(
    refusal('--kvstore-servers=http://127.0.0.1:2379'),
    '[service-account-issuer is a required flag, either `--service-account-key-file` or `--service-account-signing-endpoint` must be set, --service-account-signing-key-file and --service-account-issuer are required flags]',
  );
});

test('some service-account flags without the others are refused on the embedded store too', () => {
  assert.equal(
    refusal('--service-account-issuer=https://me.test'),
    '[either `--service-account-key-file` or `--service-account-signing-endpoint` must be set, --service-account-signing-key-file, --service-account-issuer, and --api-audiences should be specified together]',
  );
});

test('all errors come at once, each once', () => {
  assert.equal(
    refusal('--secure-port=0', '--min-request-timeout=-1', '--audit-log-path=-', '--audit-log-maxage=-1'),
    "[--min-request-timeout can not be negative value, --secure-port 0 must be between 1 and 65535, inclusive. It cannot be turned off with 0, --audit-log-maxage -1 can't be a negative number]",
  );
});

test('an error of the command line is written without a log header', () => {
  assert.equal(refusal('--nope'), 'Error: unknown flag: --nope');
  assert.equal(refusal('here'), 'Error: "kube-apiserver" does not take any arguments, got ["here"]');
});

test('feature gates follow the emulated version', () => {
  assert.equal(run().featureGates.enabled('DynamicResourceAllocation'), true);
  assert.equal(run('--emulated-version=1.33').featureGates.enabled('DynamicResourceAllocation'), false);
  assert.equal(
    refusal('--emulated-version=1.33', '--feature-gates=ContainerRestartRules=true'),
    'cannot set feature gate ContainerRestartRules to true, feature is PreAlpha at emulated version 1.33',
  );
  assert.equal(
    refusal('--emulated-version=1.30'),
    '[emulation version 1.30 is not between [1.31, 1.34.0], minCompatibilityVersion version 1.31 is not between [1.31, 1.30]]',
  );
});

test('AllAlpha reaches gates that are not named', () => {
  const { featureGates } = run('--feature-gates=AllAlpha=true,ImageVolume=true', '--feature-gates=EnvFiles=false');
  assert.equal(featureGates.enabled('PodCertificateRequest'), true);
  assert.equal(featureGates.enabled('EnvFiles'), false);
  assert.equal(featureGates.enabled('ImageVolume'), true);
  assert.equal(featureGates.enabled('ClusterTrustBundle'), false);
});

test('locked gates and mixed spellings are refused', () => {
  assert.equal(
    refusal('--feature-gates=APIServerTracing=false'),
    'cannot set feature gate APIServerTracing to false, feature is locked to true',
  );
  assert.equal(
    refusal('--feature-gates=kube:WatchList=true,EnvFiles=true'),
    'set kube feature gates with default empty prefix or kube: prefix consistently, do not mix use',
  );
  assert.equal(refusal('--feature-gates=wardle:A=true'), 'component not registered: wardle');
});

test('the core group goes by several names in runtime-config', () => {
  assert.deepEqual(run('--runtime-config=v1=true,api/legacy=false').apiEnablement.runtimeConfig, { '/v1': 'true' });
  assert.equal(refusal('--runtime-config=apps/v7=true'), 'group version apps/v7 that has not been registered');
  assert.equal(refusal('--runtime-config=apps=true'), 'runtime-config invalid key apps');
});

test('an API the emulated release did not have cannot be turned on', () => {
  const flags = ['--emulated-version=1.33', '--runtime-config=resource.k8s.io/v1=true'];
  assert.equal(
    refusal(...flags),
    'cannot enable version resource.k8s.io/v1 in runtime-config because all the resources have been introduced after the current version 1.33. Consider setting --runtime-config-emulation-forward-compatible=true',
  );
  assert.equal(refusal(...flags, '--runtime-config-emulation-forward-compatible'), 'accepted');
});

test('workers are a number or as many as there are cores', () => {
  assert.equal(run().workers, 1);
  assert.equal(run('--workers=16').workers, 16);
  assert.equal(run('--workers=auto').workers, os.availableParallelism());
  for (const wrong of ['0', '-1', '65', '2.5', 'all', '1e1', ' 2', '']) {
    assert.match(refusal(`--workers=${wrong}`), /^--workers ".*" must be between 1 and 64, inclusive, or auto/);
  }
});

test('controllers are known names or all of them', () => {
  assert.deepEqual(run('--controllers=serviceaccount,namespace').controllers, ['namespace', 'serviceaccount']);
  assert.equal(run('--controllers=*').controllers.length, 6);
  assert.match(refusal('--controllers=nope'), /^--controllers "nope" is unknown/);
});

test('two service ranges are of two families', () => {
  const { serviceRanges } = run('--service-cluster-ip-range=10.0.0.0/16,fd00::/112');
  assert.equal(serviceRanges.apiServiceIp, '10.0.0.1');
  assert.equal(serviceRanges.secondary?.family, 6);
  assert.equal(
    refusal('--service-cluster-ip-range=10.0.0.0/16,10.1.0.0/16'),
    '--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family',
  );
});

test('the version is printed, or set when it is of this release', () => {
  assert.deepEqual(parse('--version'), { kind: 'print', text: 'Kubernetes v1.34.11\n' });
  assert.deepEqual(parseCommandLine(['--version'], ENV, { ownVersion: '0.2.0' }), {
    kind: 'print',
    text: 'Kubernetes v1.34.11\nBinnacle 0.2.0\n',
  });
  assert.equal(run('--version=v1.34.11-me+1').gitVersion, 'v1.34.11-me+1');
  assert.equal(
    refusal('--version=v1.33.0'),
    'Error: invalid argument "v1.33.0" for "--version" flag: version "v1.33.0" must match major/minor/patch of default version "v1.34.11"',
  );
});

const help = (columns?: number): string[] => {
  const result = parseCommandLine(['--help'], ENV, columns === undefined ? {} : { columns });
  return result.kind === 'print' ? result.text.split('\n') : [];
};

test('help for a terminal keeps to its width, with the text of a flag below its name', () => {
  const lines = help(72);
  const at = lines.indexOf('Secure serving flags:');
  assert.deepEqual(lines.slice(at - 1, at + 5), [
    '',
    'Secure serving flags:',
    '',
    `${'      --bind-address ip'.padEnd(61)}  `,
    '                The address to listen on. 0.0.0.0 and :: mean',
    '                every interface, IPv4 and IPv6. (default 0.0.0.0)',
  ]);
  assert.deepEqual(
    lines.filter((line) => line.startsWith(' '.repeat(16)) && line.length > 72 && line.trim().includes(' ')),
    [],
  );
});

test('help for a program has a line for each flag, in order, the texts below each other', () => {
  const lines = help();
  const at = lines.indexOf('Global flags:');
  assert.equal(lines[at + 2], '  -h, --help                     Show this help for kube-apiserver.');
  assert.match(lines[at + 3] ?? '', /^ {6}--version version\[=true\] {3}Print the version/);
  const names = lines.slice(lines.indexOf('Misc flags:')).flatMap((line) => /^ {6}--([a-z-]+)/.exec(line)?.[1] ?? []);
  const misc = names.slice(0, names.indexOf('service-node-port-range') + 1);
  assert.deepEqual(misc, [...misc].sort());
});

test('a flag that there is not gets the closest one for a hint, where there is one', () => {
  const lines = (flag: string): readonly string[] => {
    const answer = parseCommandLine([flag], ENV);
    return answer.kind === 'refused' ? answer.lines : [];
  };
  const hinted = (flag: string, hint: string): void =>
    assert.deepEqual(lines(`--${flag}`), [`Error: unknown flag: --${flag}`, `Did you mean --${hint}?`]);
  hinted('secure-prot', 'secure-port');
  hinted('etcd-server', 'etcd-servers');
  hinted('authorisation-mode', 'authorization-mode');
  assert.deepEqual(lines('--cloud-provider'), ['Error: unknown flag: --cloud-provider']);
  assert.deepEqual(lines(`--${'a'.repeat(10_000)}`).length, 1);
});

test('a refusal names the flag and the file, where the words do not', () => {
  const parsed = parse('--client-ca-file=/no/such.crt');
  const line = parsed.kind === 'refused' ? (parsed.lines.at(-1) ?? '') : '';
  assert.match(line, / flag="--client-ca-file" file="\/no\/such\.crt"$/);
  const json = parse('--client-ca-file=/no/such.crt', '--logging-format=json');
  const logged = JSON.parse(json.kind === 'refused' ? (json.lines.at(-1) ?? '') : '{}') as Record<string, unknown>;
  assert.equal(logged['msg'], 'command failed');
  assert.equal(logged['file'], '/no/such.crt');
});

test('addresses of service-account tokens are read as Go reads them', () => {
  const keys = ['--service-account-key-file=/no', '--service-account-signing-key-file='];
  const issuer = (url: string) => refusal(...keys, `--service-account-issuer=${url}`);
  assert.match(
    issuer('https://[::1'),
    /service-account-issuer "https:\/\/\[::1" contained a ':' .*: missing ']' in host/,
  );
  assert.doesNotMatch(issuer('a:b%zz'), /not a valid URL/);
  assert.equal(
    refusal('--service-account-jwks-uri=https://[::1'),
    `service-account-jwks-uri must be a valid URL: parse "https://[::1": missing ']' in host`,
  );
});

test('numbers are refused beyond what kube-apiserver has room for', () => {
  assert.equal(
    refusal(`--watch-cache-sizes=pods#${'9'.repeat(20)}`),
    `invalid size of watch cache size: pods#${'9'.repeat(20)}`,
  );
  assert.equal(
    refusal('--audit-log-batch-throttle-qps=1e39'),
    'Error: invalid argument "1e39" for "--audit-log-batch-throttle-qps" flag: strconv.ParseFloat: parsing "1e39": value out of range',
  );
  const most = String(2n ** 63n - 1n);
  assert.equal(
    refusal(`--max-requests-inflight=${most}`),
    `invalid configuration: MaxRequestsInFlight=${most} and MaxMutatingRequestsInFlight=200; they must add up to something positive`,
  );
});

test('shares are read as Go reads numbers with a fraction', () => {
  const said = (text: string): string => refusal(`--goaway-chance=${text}`, '--min-request-timeout=-1');
  const fits = '--min-request-timeout can not be negative value';
  for (const text of ['0x1p-6', '0x_1.8p-7', '0X.1P-1_0', '0x0p99999', '0x1p-99999', '0.01_1', 'NaN']) {
    assert.equal(said(text), fits, text);
  }
  for (const text of ['0x1p+5', '0_1', '1e1_0', '-Inf', '0x1p-5']) {
    assert.equal(said(text), `[--goaway-chance can not be less than 0 or greater than 0.02, ${fits}]`, text);
  }
  for (const text of ['0x1', '0xp1', '1__0', '0._01', '-nan', '0b1']) {
    assert.match(said(text), /strconv\.ParseFloat: parsing ".*": invalid syntax$/, text);
  }
  assert.match(said('0x1p9999'), /value out of range$/);
});

test('an address of blanks is none', () => {
  assert.equal(
    refusal('--advertise-address= '),
    'Error: invalid argument " " for "--advertise-address" flag: failed to parse IP: " "',
  );
});

test('a value that begins with false disables the API that queueing needs', () => {
  assert.equal(
    refusal('--runtime-config=api/all=falsey'),
    '--runtime-config=api/all=false conflicts with --enable-priority-and-fairness=true',
  );
  assert.equal(refusal('--runtime-config=api/ga=truely,api/all=falsey'), 'invalid value api/all=falsey');
});

test('a range of half of all addresses is none for services', () => {
  for (const range of ['0.0.0.0/0', '128.0.0.0/1', '::/1']) {
    assert.equal(
      refusal(`--service-cluster-ip-range=${range}`),
      'error determining service IP ranges for primary service cidr: the service cluster IP range must be at least 8 IP addresses',
    );
  }
});

/** What ends the work of a server that was started so. */
const endOf = (...argv: string[]): string => workError(run(...argv)) ?? assemblyMistake(run(...argv))?.error ?? 'works';
const exitCodeOf = (...argv: string[]): number | undefined => assemblyMistake(run(...argv))?.exitCode;

test('what only shows when the server is put together ends its work, in the order of its parts', () => {
  assert.match(
    endOf('--endpoint-reconciler-type=guess', '--kubelet-client-key=/none'),
    /^--endpoint-reconciler-type: Reconciler not implemented: guess/,
  );
  const files = ['--proxy-client-cert-file=/none', '--proxy-client-key-file=/none'];
  assert.equal(
    endOf('--kubelet-client-key=/none', ...files),
    'problem initializing API group "": open /none: no such file or directory',
  );
  assert.equal(endOf(files[0] ?? ''), 'works');
  assert.equal(endOf(...files, '--tls-cipher-suites=TLS_AES_128_GCM_SHA256'), 'open /none: no such file or directory');
  assert.equal(exitCodeOf(...files), 1);
});

test('suites that leave out what every client of HTTP/2 has end the work where it is served', () => {
  const suites = (...names: string[]) => `--tls-cipher-suites=${names.join()}`;
  const weak = suites('TLS_RSA_WITH_AES_128_CBC_SHA');
  assert.match(endOf(weak), /^error configuring http2: .* missing an HTTP\/2-required AES_128_GCM_SHA256 cipher/);
  assert.equal(endOf(weak, '--disable-http2-serving'), 'works');
  assert.equal(endOf(weak, '--tls-min-version=VersionTLS13'), 'works');
  assert.equal(endOf(suites('TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256')), 'works');
});

test('levels by file need logs that are text', () => {
  const forbidden = 'vmodule: Forbidden: Only supported for text log format';
  assert.equal(refusal('--vmodule=a=1', '--logging-format=json'), forbidden);
  assert.equal(refusal('--vmodule=a=1', '--logging-format='), 'format: Invalid value: "": Unsupported log format');
});

test('a log that is never flushed is refused, as what kube-apiserver crashes over', () => {
  for (const never of ['0', '-1s']) {
    const parsed = parse(`--log-flush-frequency=${never}`, '--secure-port=0');
    assert.ok(parsed.kind === 'refused');
    assert.equal(parsed.exitCode, 2);
    assert.match(parsed.lines.at(-1) ?? '', /--log-flush-frequency must be greater than zero/);
  }
  assert.equal(refusal('--log-flush-frequency=1ns'), 'accepted');
});

test('numbers are shown in full', () => {
  const most = String(2n ** 63n - 1n);
  assert.match(refusal(`--secure-port=${most}`), new RegExp(`^--secure-port ${most} must`));
  assert.match(refusal(`--kubernetes-service-node-port=${most}`), new RegExp(`doesn't contain ${most}]$`));
  assert.match(refusal('--audit-log-path=-', '--audit-log-maxage=-9007199254740992000'), / -9007199254740992000 can't/);
});
