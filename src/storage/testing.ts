// What tests of stores have in common.
import type { KubeObject } from '../machinery/object.js';
import type { ResourceStoreOptions } from './store.js';

const encode = (object: object): Buffer => Buffer.from(JSON.stringify(object));
const decode = (bytes: Buffer): KubeObject => JSON.parse(bytes.toString()) as KubeObject;

/** Pods, stored as plain JSON. */
export const PODS: ResourceStoreOptions = {
  resource: { group: '', resource: 'pods' },
  prefix: '/registry/pods/',
  namespaced: true,
  codec: { encodeJson: encode, decodeJson: decode, encodeStorage: encode, decodeStorage: decode },
  fieldsOf: () => ({}),
};

/** Pods whose stored form differs from the served form. */
export const STORED_OTHERWISE: ResourceStoreOptions = {
  ...PODS,
  codec: {
    ...PODS.codec,
    encodeStorage: (object) => Buffer.from(`k8s\0${JSON.stringify(object)}`),
    decodeStorage: (bytes) => JSON.parse(bytes.toString().slice(4)) as KubeObject,
  },
};
