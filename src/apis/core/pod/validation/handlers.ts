// Probes and lifecycle hooks: what a node does with a container beside running it.
import { append } from '../../../../lib/values/append.js';
import {
  type FieldErrors,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../../machinery/field-error.js';
import { invalidEach, validateNonNegative } from '../../../../machinery/validation/fields.js';
import { isHttpHeaderName } from '../../../../machinery/validation/names.js';
import type {
  HTTPGetAction,
  Lifecycle,
  LifecycleHandler,
  PodOS,
  Probe,
  ProbeHandler,
  SleepAction,
} from '../../../../schema/generated/core.v1.js';
import { validatePortNumberOrName } from './names.js';
import type { PodRules } from './pod-rules.js';
import { LINUX_SIGNALS, WINDOWS_SIGNALS } from './signals.js';

type ProbeRole = 'livenessProbe' | 'readinessProbe' | 'startupProbe';

/** `path` is the container's. */
export function validateProbes(container: Readonly<Partial<Record<ProbeRole, Probe>>>, path: FieldPath): FieldErrors {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  return [
    ...(livenessProbe ? validateProbe(livenessProbe, 'livenessProbe', path) : []),
    ...(readinessProbe ? validateProbe(readinessProbe, 'readinessProbe', path) : []),
    ...(startupProbe ? validateProbe(startupProbe, 'startupProbe', path) : []),
  ];
}

export function validateLifecycle(
  { postStart, preStop, stopSignal }: Readonly<Lifecycle>,
  { grace, os, rules }: { grace: number | undefined; os: Readonly<PodOS> | undefined; rules: PodRules },
  path: FieldPath,
): FieldErrors {
  const sleep = { grace, mayBeZero: rules.sleepMayBeZero };
  return [
    ...(postStart ? validateHandler(postStart, path.child('postStart'), sleep) : []),
    ...(preStop ? validateHandler(preStop, path.child('preStop'), sleep) : []),
    ...(stopSignal === undefined ? [] : validateStopSignal(stopSignal, os, path.child('stopSignal'))),
  ];
}

function validateProbe(probe: Readonly<Probe>, role: ProbeRole, container: FieldPath): FieldErrors {
  const path = container.child(role);
  const errors = validateHandler(probe, path);
  for (const member of [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ] as const) {
    append(errors, validateNonNegative(probe[member], path.child(member)));
  }
  const grace = probe.terminationGracePeriodSeconds;
  if (grace !== undefined && grace <= 0) {
    errors.push(invalid(path.child('terminationGracePeriodSeconds'), grace, 'must be greater than 0'));
  }
  if (role === 'readinessProbe') {
    if (grace !== undefined) {
      const why = 'must not be set for readinessProbes';
      errors.push(invalid(path.child('terminationGracePeriodSeconds'), grace, why));
    }
  } else if (probe.successThreshold !== 1) {
    errors.push(invalid(path.child('successThreshold'), probe.successThreshold ?? 0, 'must be 1'));
  }
  return errors;
}

type AnyHandler = ProbeHandler & LifecycleHandler;

/** Exactly one kind of handler. */
function validateHandler(handler: Readonly<AnyHandler>, path: FieldPath, limits?: SleepLimits): FieldErrors {
  const { exec, httpGet, tcpSocket, grpc, sleep } = handler;
  const errors: FieldErrors = [];
  let count = 0;
  const only = (member: keyof AnyHandler, validate: (at: FieldPath) => FieldErrors): void => {
    if (count++ === 0) append(errors, validate(path.child(member)));
    else errors.push(forbidden(path.child(member), 'may not specify more than 1 handler type'));
  };
  if (exec) only('exec', (at) => ((exec.command ?? []).length === 0 ? [required(at.child('command'))] : []));
  if (httpGet) only('httpGet', (at) => validateHttpGet(httpGet, at));
  if (tcpSocket) only('tcpSocket', (at) => validatePortNumberOrName(tcpSocket.port, at.child('port')));
  if (grpc) only('grpc', (at) => validatePortNumberOrName(grpc.port, at.child('port')));
  if (sleep) only('sleep', (at) => validateSleep(sleep, limits, at));
  if (count === 0) errors.push(required(path, 'must specify a handler type'));
  return errors;
}

const SCHEMES = ['HTTP', 'HTTPS'];

function validateHttpGet(action: Readonly<HTTPGetAction>, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  if (!action.path) errors.push(required(path.child('path')));
  append(errors, validatePortNumberOrName(action.port, path.child('port')));
  if (!SCHEMES.includes(action.scheme ?? '')) {
    errors.push(notSupported(path.child('scheme'), action.scheme ?? '', SCHEMES));
  }
  for (const { name } of action.httpHeaders ?? []) {
    append(errors, invalidEach(path.child('httpHeaders'), name, isHttpHeaderName(name)));
  }
  return errors;
}

interface SleepLimits {
  /** Seconds a pod has to end. */
  readonly grace: number | undefined;
  readonly mayBeZero: boolean;
}

function validateSleep(
  { seconds }: Readonly<SleepAction>,
  limits: SleepLimits | undefined,
  path: FieldPath,
): FieldErrors {
  if (limits?.grace === undefined) return [];
  const { grace, mayBeZero } = limits;
  if (seconds >= (mayBeZero ? 0 : 1) && seconds <= grace) return [];
  const most = `less than terminationGracePeriodSeconds (${grace})`;
  const why = mayBeZero
    ? `must be non-negative and ${most}`
    : `must be greater than 0 and ${most}. Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.`;
  return [invalid(path, seconds, why)];
}

function validateStopSignal(signal: string, os: Readonly<PodOS> | undefined, path: FieldPath): FieldErrors {
  if (os === undefined) return [forbidden(path, 'may not be set for containers with empty `spec.os.name`')];
  const supported = os.name === 'windows' ? WINDOWS_SIGNALS : os.name === 'linux' ? LINUX_SIGNALS : undefined;
  return supported === undefined || supported.includes(signal) ? [] : [notSupported(path, signal, supported)];
}
