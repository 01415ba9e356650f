// Resources that came after the oldest release that can be emulated: at which 1.x, and in which older versions that
// are not alpha they were served before. A server that emulates an older release does not know them.
export interface Introduction {
  readonly minor: number;
  readonly older: readonly string[];
}

const at = (minor: number, ...older: string[]): Introduction => ({ minor, older });

export const INTRODUCTIONS: Readonly<Record<string, Introduction>> = {
  'admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicies': at(32),
  'admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicybindings': at(32),
  'admissionregistration.k8s.io/v1beta1/mutatingadmissionpolicies': at(34),
  'admissionregistration.k8s.io/v1beta1/mutatingadmissionpolicybindings': at(34),
  'certificates.k8s.io/v1alpha1/podcertificaterequests': at(34),
  'certificates.k8s.io/v1beta1/clustertrustbundles': at(33),
  'coordination.k8s.io/v1alpha2/leasecandidates': at(32),
  'coordination.k8s.io/v1beta1/leasecandidates': at(33),
  'networking.k8s.io/v1/ipaddresses': at(33, 'v1beta1'),
  'networking.k8s.io/v1/servicecidrs': at(33, 'v1beta1'),
  'resource.k8s.io/v1/deviceclasses': at(34, 'v1beta2', 'v1beta1'),
  'resource.k8s.io/v1/resourceclaims': at(34, 'v1beta2', 'v1beta1'),
  'resource.k8s.io/v1/resourceclaimtemplates': at(34, 'v1beta2', 'v1beta1'),
  'resource.k8s.io/v1/resourceslices': at(34, 'v1beta2', 'v1beta1'),
  'resource.k8s.io/v1alpha3/devicetaintrules': at(33),
  'resource.k8s.io/v1beta1/deviceclasses': at(32),
  'resource.k8s.io/v1beta1/resourceclaims': at(32),
  'resource.k8s.io/v1beta1/resourceclaimtemplates': at(32),
  'resource.k8s.io/v1beta1/resourceslices': at(32),
  'resource.k8s.io/v1beta2/deviceclasses': at(33, 'v1beta1'),
  'resource.k8s.io/v1beta2/resourceclaims': at(33, 'v1beta1'),
  'resource.k8s.io/v1beta2/resourceclaimtemplates': at(33, 'v1beta1'),
  'resource.k8s.io/v1beta2/resourceslices': at(33, 'v1beta1'),
  'storage.k8s.io/v1/volumeattributesclasses': at(34, 'v1beta1'),
};

/** Versions all of whose resources came late. */
export const LATE_VERSIONS: Readonly<Record<string, number>> = {
  'coordination.k8s.io/v1alpha2': 32,
  'coordination.k8s.io/v1beta1': 33,
  'resource.k8s.io/v1': 34,
  'resource.k8s.io/v1alpha3': 33,
  'resource.k8s.io/v1beta1': 32,
  'resource.k8s.io/v1beta2': 33,
  'certificates.k8s.io/v1beta1': 33,
};

/** Resources of versions that ended: the 1.x from which they are not served any more, whatever the settings say. */
export const REMOVALS: Readonly<Record<string, number>> = {
  'admissionregistration.k8s.io/v1beta1/validatingadmissionpolicies': 34,
  'admissionregistration.k8s.io/v1beta1/validatingadmissionpolicybindings': 34,
  'authentication.k8s.io/v1beta1/selfsubjectreviews': 33,
  'flowcontrol.apiserver.k8s.io/v1beta3/flowschemas': 32,
  'flowcontrol.apiserver.k8s.io/v1beta3/prioritylevelconfigurations': 32,
};
