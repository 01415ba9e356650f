// The types of what policies and conditions of webhooks see beside the object itself: the request and the namespace.
import type { ObjectTypeDeclaration, ObjectTypes } from '../environment.js';
import { BOOL, type CelType, DYN, INT, STRING, TIMESTAMP, listType, mapType, objectType } from '../type.js';
import { objectDeclaration } from './object-types.js';

const TEXTS = listType(STRING);
const LABELS = mapType(STRING, STRING);
const KIND = objectType('kubernetes.GroupVersionKind');
const RESOURCE = objectType('kubernetes.GroupVersionResource');

export const REQUEST = objectType('kubernetes.AdmissionRequest');
export const NAMESPACE = objectType('kubernetes.Namespace');

const DECLARED: Readonly<Record<string, Readonly<Record<string, CelType>>>> = {
  [KIND.name]: { group: STRING, version: STRING, kind: STRING },
  [RESOURCE.name]: { group: STRING, version: STRING, resource: STRING },
  'kubernetes.UserInfo': { username: STRING, uid: STRING, groups: TEXTS, extra: mapType(STRING, TEXTS) },
  [REQUEST.name]: {
    kind: KIND,
    resource: RESOURCE,
    subResource: STRING,
    requestKind: KIND,
    requestResource: RESOURCE,
    requestSubResource: STRING,
    name: STRING,
    namespace: STRING,
    operation: STRING,
    userInfo: objectType('kubernetes.UserInfo'),
    dryRun: BOOL,
    options: DYN,
  },
  [NAMESPACE.name]: {
    metadata: objectType('kubernetes.NamespaceMetadata'),
    spec: objectType('kubernetes.NamespaceSpec'),
    status: objectType('kubernetes.NamespaceStatus'),
  },
  'kubernetes.NamespaceMetadata': {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    labels: LABELS,
    annotations: LABELS,
    UID: STRING,
    creationTimestamp: TIMESTAMP,
    deletionGracePeriodSeconds: INT,
    deletionTimestamp: TIMESTAMP,
    generation: INT,
    resourceVersion: STRING,
    finalizers: TEXTS,
  },
  'kubernetes.NamespaceSpec': { finalizers: TEXTS },
  'kubernetes.NamespaceStatus': { conditions: listType(objectType('kubernetes.NamespaceCondition')), phase: STRING },
  'kubernetes.NamespaceCondition': {
    status: STRING,
    type: STRING,
    lastTransitionTime: TIMESTAMP,
    message: STRING,
    reason: STRING,
  },
};

const known = new Map<string, ObjectTypeDeclaration>();

export const policyTypes: ObjectTypes = {
  find(name) {
    const fields = Object.hasOwn(DECLARED, name) ? DECLARED[name] : undefined;
    if (fields === undefined) return undefined;
    let declaration = known.get(name);
    if (declaration === undefined) {
      declaration = objectDeclaration(name, new Map(Object.entries(fields)));
      known.set(name, declaration);
    }
    return declaration;
  },
};
