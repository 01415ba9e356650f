/** Says that a request was handed on by another server already: it is not handed on again. */
export const PEER_PROXIED = 'x-kubernetes-peer-proxied';
