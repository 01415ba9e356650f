// The admission plugins --enable-admission-plugins and --disable-admission-plugins know, and whether each is on by itself.
export const ADMISSION_PLUGIN_DEFAULTS = {
  AlwaysAdmit: false,
  AlwaysDeny: false,
  AlwaysPullImages: false,
  CertificateApproval: true,
  CertificateSigning: true,
  CertificateSubjectRestriction: true,
  ClusterTrustBundleAttest: true,
  DefaultIngressClass: true,
  DefaultStorageClass: true,
  DefaultTolerationSeconds: true,
  DenyServiceExternalIPs: false,
  EventRateLimit: false,
  ExtendedResourceToleration: false,
  ImagePolicyWebhook: false,
  LimitPodHardAntiAffinityTopology: false,
  LimitRanger: true,
  MutatingAdmissionPolicy: true,
  MutatingAdmissionWebhook: true,
  NamespaceAutoProvision: false,
  NamespaceExists: false,
  NamespaceLifecycle: true,
  NodeRestriction: false,
  OwnerReferencesPermissionEnforcement: false,
  PersistentVolumeClaimResize: true,
  PodNodeSelector: false,
  PodSecurity: true,
  PodTolerationRestriction: false,
  PodTopologyLabels: true,
  Priority: true,
  ResourceQuota: true,
  RuntimeClass: true,
  ServiceAccount: true,
  StorageObjectInUseProtection: true,
  TaintNodesByCondition: true,
  ValidatingAdmissionPolicy: true,
  ValidatingAdmissionWebhook: true,
} as const satisfies Record<string, boolean>;

export type AdmissionPluginName = keyof typeof ADMISSION_PLUGIN_DEFAULTS;

export const isAdmissionPlugin = (name: string): name is AdmissionPluginName =>
  Object.hasOwn(ADMISSION_PLUGIN_DEFAULTS, name);

/** The plugins that run with these flags; their order is the admission chain's own. */
export function enabledAdmissionPlugins(flags: {
  readonly admissionControl: readonly string[];
  readonly enableAdmissionPlugins: readonly string[];
  readonly disableAdmissionPlugins: readonly string[];
}): ReadonlySet<AdmissionPluginName> {
  if (flags.admissionControl.length > 0) return new Set(flags.admissionControl.filter(isAdmissionPlugin));
  const names = Object.keys(ADMISSION_PLUGIN_DEFAULTS) as AdmissionPluginName[];
  return new Set(
    names.filter((name) => {
      if (flags.enableAdmissionPlugins.includes(name)) return true;
      return ADMISSION_PLUGIN_DEFAULTS[name] && !flags.disableAdmissionPlugins.includes(name);
    }),
  );
}
