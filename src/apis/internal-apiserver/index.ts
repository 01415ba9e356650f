import { append } from '../../lib/values/append.js';
import {
  type FieldError,
  type FieldErrors,
  FieldPath,
  duplicate,
  invalid,
  required,
  named,
} from '../../machinery/field-error.js';
import { invalidEach } from '../../machinery/validation/fields.js';
import {
  EMPTY,
  isDns1035Label,
  isDns1123Subdomain,
  isQualifiedName,
  nameIsDnsSubdomain,
  patternMessage,
} from '../../machinery/validation/names.js';
import { AGE_COLUMN, NAME_COLUMN, ageCell, column } from '../../registry/columns.js';
import type { KindDefinition } from '../../registry/kind.js';
import type {
  ServerStorageVersion,
  StorageVersion,
  StorageVersionCondition,
  StorageVersionStatus,
} from '../../schema/generated/apiserverinternal.v1alpha1.js';
import { keepMetaForStatus } from '../status-metadata.js';

const storageVersion: KindDefinition<StorageVersion> = {
  group: 'internal.apiserver.k8s.io',
  kind: 'StorageVersion',
  plural: 'storageversions',
  singular: 'storageversion',
  namespaced: false,
  versions: [{ version: 'v1alpha1', enabledByDefault: false }],
  storageVersion: 'v1alpha1',
  strategy: {
    metadataRules: { validateName: nameMessages, placedOnUpdate: true },
    hasStatus: true,
    hasGeneration: false,
    allowUnconditionalUpdate: false,
    prepareForCreate: (object) => {
      object.status = {};
    },
    validate: ({ status }) => validateStatus(status),
    validateUpdate: () => [],
    status: {
      metadataRules: { placedOnUpdate: true },
      prepareForUpdate: (object, old) => keepMetaForStatus(object.metadata, old.metadata),
      validateUpdate: ({ status }) => validateStatus(status),
    },
    resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
  },
  subresources: { status: { kind: 'StorageVersion', verbs: ['get', 'patch', 'update'] } },
  table: {
    columns: [
      NAME_COLUMN,
      column('CommonEncodingVersion', 'The version all servers write, when they agree on one.'),
      column('StorageVersions', 'The version each server writes.'),
      AGE_COLUMN,
    ],
    row: (object, now) => [
      object.metadata.name ?? '',
      object.status.commonEncodingVersion ?? '<unset>',
      versionsCell(object.status.storageVersions ?? []),
      ageCell(object, now),
    ],
  },
};

export const internalApiserverKinds: readonly KindDefinition[] = [storageVersion];

/** `<group>.<resource>`. */
function nameMessages(name: string): string[] {
  const dot = name.lastIndexOf('.');
  if (dot < 0) return ['name must be in the form of <group>.<resource>'];
  return [
    ...isDns1123Subdomain(name.slice(0, dot)).map((why) => `the group segment ${why}`),
    ...isDns1035Label(name.slice(dot + 1)).map((why) => `the resource segment ${why}`),
  ];
}

function validateStatus(status: Readonly<StorageVersionStatus>): FieldErrors {
  const path = FieldPath.of('status');
  const errors: FieldErrors = [];
  const servers = new Set<string>();
  for (const [i, server] of (status.storageVersions ?? []).entries()) {
    const at = path.child('storageVersions').index(i);
    const id = server.apiServerID ?? '';
    if (servers.has(id)) errors.push(duplicate(at.child('apiServerID'), id));
    servers.add(id);
    append(errors, validateServer(server, at));
  }
  append(errors, validateCommonVersion(status, path.child('commonEncodingVersion')) ?? []);
  append(errors, validateConditions(status.conditions ?? [], path));
  return errors;
}

function validateServer(server: Readonly<ServerStorageVersion>, path: FieldPath): FieldErrors {
  const { apiServerID = '', encodingVersion = '', decodableVersions = [], servedVersions = [] } = server;
  const errors = invalidEach(path.child('apiServerID'), apiServerID, nameIsDnsSubdomain(apiServerID, false));
  const checkVersion = (version: string, at: FieldPath): void => {
    const wrong = apiVersionMessages(version);
    if (wrong.length > 0) errors.push(invalid(at, version, wrong.join(',')));
  };
  checkVersion(encodingVersion, path.child('encodingVersion'));
  const decodable = path.child('decodableVersions');
  for (const [i, version] of decodableVersions.entries()) checkVersion(version, decodable.index(i));
  if (!decodableVersions.includes(encodingVersion)) {
    const why = `decodableVersions must include encodingVersion ${encodingVersion}`;
    errors.push(invalid(decodable, server.decodableVersions, why));
  }
  for (const [i, version] of servedVersions.entries()) {
    const at = path.child('servedVersions').index(i);
    checkVersion(version, at);
    if (decodableVersions.includes(version)) continue;
    const why = `individual served version : ${version} must be included in decodableVersions : [${decodableVersions.join(' ')}]`;
    errors.push(invalid(at, version, why));
  }
  return errors;
}

function validateCommonVersion(
  { storageVersions = [], commonEncodingVersion: reported }: Readonly<StorageVersionStatus>,
  path: FieldPath,
): FieldError[] | undefined {
  const first = storageVersions[0]?.encodingVersion;
  const agreed = storageVersions.every(({ encodingVersion }) => encodingVersion === first);
  const common = storageVersions.length > 0 && agreed ? (first ?? '') : undefined;
  if (common === reported) return undefined;
  if (common === undefined) {
    const why =
      'should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet';
    return [invalid(path, reported, why)];
  }
  if (reported === undefined) return [invalid(path, null, `the common encoding version is ${common}`)];
  return [invalid(path, named(reported), `the actual common encoding version is ${common}`)];
}

function validateConditions(conditions: readonly StorageVersionCondition[], path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const seen = new Map<string, number>();
  for (const [i, { type, status, reason, message = '' }] of conditions.entries()) {
    const at = path.index(i);
    const before = seen.get(type);
    if (before !== undefined) {
      const why = `the type of the condition is not unique, it also appears in conditions[${before}]`;
      errors.push(invalid(at.child('type'), type, why));
    }
    seen.set(type, i);
    append(errors, invalidEach(at.child('type'), type, isQualifiedName(type)));
    append(errors, invalidEach(at.child('status'), status, isQualifiedName(status)));
    if (reason === '') errors.push(required(at.child('reason')));
    if (message === '') errors.push(required(at.child('message')));
  }
  return errors;
}

const VERSION_FORM = patternMessage(
  "a DNS-1035 label, which must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  '[a-z]([-a-z0-9]*[a-z0-9])?',
  'my-name',
  'abc-123',
);

/** `version` or `group/version`. */
function apiVersionMessages(apiVersion: string): string[] {
  const parts = apiVersion.split('/');
  if (parts.length > 2) {
    return [
      `an apiVersion is ${VERSION_FORM} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyVersion')`,
    ];
  }
  const version = parts[parts.length - 1] ?? '';
  const group = parts.length === 2 ? (parts[0] ?? '') : undefined;
  const partMessages = (part: string, text: string, rule: (value: string) => string[]): string[] =>
    (text === '' ? [EMPTY] : rule(text)).map((why) => `${part} part: ${why}`);
  return [
    ...(group === undefined ? [] : partMessages('group', group, isDns1123Subdomain)),
    ...partMessages('version', version, isDns1035Label),
  ];
}

const SHOWN_VERSIONS = 3;

function versionsCell(versions: readonly ServerStorageVersion[]): string {
  if (versions.length === 0) return '<unset>';
  const shown = versions
    .slice(0, SHOWN_VERSIONS)
    .map(({ apiServerID = '', encodingVersion = '' }) => `${apiServerID}=${encodingVersion}`)
    .join(',');
  const more = versions.length - SHOWN_VERSIONS;
  return more > 0 ? `${shown} + ${more} more...` : shown;
}
