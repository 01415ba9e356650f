// Who has the roles of a new server: `name -> role: subjects`. A subject is `group=…`, `user=…` or
// `account=namespace/name`; the role is left out where it has the binding's name.
export const CLUSTER_ROLE_BINDINGS = `
cluster-admin: group=system:masters
system:monitoring: group=system:monitoring
system:discovery: group=system:authenticated
system:basic-user: group=system:authenticated
system:public-info-viewer: group=system:authenticated group=system:unauthenticated
system:node-proxier: user=system:kube-proxy
system:kube-controller-manager: user=system:kube-controller-manager
system:kube-dns: account=kube-system/kube-dns
system:kube-scheduler: user=system:kube-scheduler
system:volume-scheduler: user=system:kube-scheduler
system:node:
system:service-account-issuer-discovery: group=system:serviceaccounts
system:cluster-trust-bundle-discovery: group=system:serviceaccounts [ClusterTrustBundle]
`;

export const NAMESPACE_ROLE_BINDINGS = `
kube-system/system::extension-apiserver-authentication-reader -> extension-apiserver-authentication-reader: user=system:kube-controller-manager user=system:kube-scheduler
kube-system/system::leader-locking-kube-controller-manager: user=system:kube-controller-manager account=kube-system/kube-controller-manager account=kube-system/leader-election-controller
kube-system/system::leader-locking-kube-scheduler: user=system:kube-scheduler account=kube-system/kube-scheduler
kube-system/system:controller:bootstrap-signer: account=kube-system/bootstrap-signer
kube-system/system:controller:cloud-provider: account=kube-system/cloud-provider
kube-system/system:controller:token-cleaner: account=kube-system/token-cleaner
kube-public/system:controller:bootstrap-signer: account=kube-system/bootstrap-signer
`;
