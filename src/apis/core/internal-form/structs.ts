// The shape in which kube-apiserver shows parts of a pod or a volume inside an error: its in-memory structs, with
// their own member names and order. We keep no such structs; this table is only read when such an error is written.
//
// A line is `Struct: members`, a member is `Name`, or `Name=json` where the JSON name is not simply the name with a
// small first letter, followed by what it holds:
//
//   (nothing)  text, "" when unset      #  number, 0 when unset      !  boolean, false when unset
//   ~  quantity, "0" when unset         ?  any value, null when unset
//   []  list of values                  {}  map, null when unset
//   :T  struct    ?T  struct or null    []T  list of structs          @metadata  inlined object metadata
//   ^T  struct of meta/v1 or null, which encodes as it does everywhere: by its JSON names, what is unset left out
export const INTERNAL_STRUCTS = `
AWSElasticBlockStoreVolumeSource: VolumeID FSType=fsType Partition# ReadOnly!
Affinity: NodeAffinity?NodeAffinity PodAffinity?PodAffinity PodAntiAffinity?PodAntiAffinity
AppArmorProfile: Type LocalhostProfile?
AzureDiskVolumeSource: DiskName DataDiskURI=diskURI CachingMode? FSType=fsType? ReadOnly? Kind?
AzureFilePersistentVolumeSource: SecretName ShareName ReadOnly! SecretNamespace?
AzureFileVolumeSource: SecretName ShareName ReadOnly!
CSIPersistentVolumeSource: Driver VolumeHandle ReadOnly! FSType=fsType VolumeAttributes{}
  ControllerPublishSecretRef?SecretReference NodeStageSecretRef?SecretReference NodePublishSecretRef?SecretReference
  ControllerExpandSecretRef?SecretReference NodeExpandSecretRef?SecretReference
CSIVolumeSource: Driver ReadOnly? FSType=fsType? VolumeAttributes{} NodePublishSecretRef?LocalObjectReference
Capabilities: Add[] Drop[]
CephFSPersistentVolumeSource: Monitors[] Path User SecretFile SecretRef?SecretReference ReadOnly!
CephFSVolumeSource: Monitors[] Path User SecretFile SecretRef?LocalObjectReference ReadOnly!
CinderPersistentVolumeSource: VolumeID FSType=fsType ReadOnly! SecretRef?SecretReference
CinderVolumeSource: VolumeID FSType=fsType ReadOnly! SecretRef?LocalObjectReference
ClusterTrustBundleProjection: Name? SignerName? LabelSelector^LabelSelector Optional? Path
ConfigMapEnvSource: Name Optional?
ConfigMapKeySelector: Name Key Optional?
ConfigMapProjection: Name Items[]KeyToPath Optional?
ConfigMapVolumeSource: Name Items[]KeyToPath DefaultMode? Optional?
Container: Name Image Command[] Args[] WorkingDir Ports[]ContainerPort EnvFrom[]EnvFromSource Env[]EnvVar
  Resources:ResourceRequirements ResizePolicy[]ContainerResizePolicy RestartPolicy?
  RestartPolicyRules[]ContainerRestartRule VolumeMounts[]VolumeMount VolumeDevices[]VolumeDevice LivenessProbe?Probe
  ReadinessProbe?Probe StartupProbe?Probe Lifecycle?Lifecycle TerminationMessagePath TerminationMessagePolicy
  ImagePullPolicy SecurityContext?SecurityContext Stdin! StdinOnce! TTY=tty!
ContainerPort: Name HostPort# ContainerPort# Protocol HostIP
ContainerResizePolicy: ResourceName RestartPolicy
ContainerRestartRule: Action ExitCodes?ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes: Operator Values[]
DownwardAPIProjection: Items[]DownwardAPIVolumeFile
DownwardAPIVolumeFile: Path FieldRef?ObjectFieldSelector ResourceFieldRef?ResourceFieldSelector Mode?
DownwardAPIVolumeSource: Items[]DownwardAPIVolumeFile DefaultMode?
EmptyDirVolumeSource: Medium SizeLimit?
EnvFromSource: Prefix ConfigMapRef?ConfigMapEnvSource SecretRef?SecretEnvSource
EnvVar: Name Value ValueFrom?EnvVarSource
EnvVarSource: FieldRef?ObjectFieldSelector ResourceFieldRef?ResourceFieldSelector ConfigMapKeyRef?ConfigMapKeySelector
  SecretKeyRef?SecretKeySelector FileKeyRef?FileKeySelector
EphemeralContainer: Name Image Command[] Args[] WorkingDir Ports[]ContainerPort EnvFrom[]EnvFromSource Env[]EnvVar
  Resources:ResourceRequirements ResizePolicy[]ContainerResizePolicy RestartPolicy?
  RestartPolicyRules[]ContainerRestartRule VolumeMounts[]VolumeMount VolumeDevices[]VolumeDevice LivenessProbe?Probe
  ReadinessProbe?Probe StartupProbe?Probe Lifecycle?Lifecycle TerminationMessagePath TerminationMessagePolicy
  ImagePullPolicy SecurityContext?SecurityContext Stdin! StdinOnce! TTY=tty! TargetContainerName
EphemeralVolumeSource: VolumeClaimTemplate?PersistentVolumeClaimTemplate
ExecAction: Command[]
FCVolumeSource: TargetWWNs[] Lun? FSType=fsType ReadOnly! WWIDs=wwids[]
FileKeySelector: VolumeName Path Key Optional?
FlexPersistentVolumeSource: Driver FSType=fsType SecretRef?SecretReference ReadOnly! Options{}
FlexVolumeSource: Driver FSType=fsType SecretRef?LocalObjectReference ReadOnly! Options{}
FlockerVolumeSource: DatasetName DatasetUUID
GCEPersistentDiskVolumeSource: PDName=pdName FSType=fsType Partition# ReadOnly!
GRPCAction: Port# Service?
GitRepoVolumeSource: Repository Revision Directory
GlusterfsPersistentVolumeSource: EndpointsName=endpoints Path ReadOnly! EndpointsNamespace?
GlusterfsVolumeSource: EndpointsName=endpoints Path ReadOnly!
HTTPGetAction: Path Port# Host Scheme HTTPHeaders=httpHeaders[]HTTPHeader
HTTPHeader: Name Value
HostAlias: IP=ip Hostnames[]
HostPathVolumeSource: Path Type?
ISCSIPersistentVolumeSource: TargetPortal IQN=iqn Lun# ISCSIInterface=iscsiInterface FSType=fsType ReadOnly! Portals[]
  DiscoveryCHAPAuth=chapAuthDiscovery! SessionCHAPAuth=chapAuthSession! SecretRef?SecretReference InitiatorName?
ISCSIVolumeSource: TargetPortal IQN=iqn Lun# ISCSIInterface=iscsiInterface FSType=fsType ReadOnly! Portals[]
  DiscoveryCHAPAuth=chapAuthDiscovery! SessionCHAPAuth=chapAuthSession! SecretRef?LocalObjectReference InitiatorName?
ImageVolumeSource: Reference PullPolicy
KeyToPath: Key Path Mode?
Lifecycle: PostStart?LifecycleHandler PreStop?LifecycleHandler StopSignal?
LifecycleHandler: Exec?ExecAction HTTPGet=httpGet?HTTPGetAction TCPSocket=tcpSocket?TCPSocketAction Sleep?SleepAction
LocalObjectReference: Name
LocalVolumeSource: Path FSType=fsType?
NFSVolumeSource: Server Path ReadOnly!
NodeAffinity: RequiredDuringSchedulingIgnoredDuringExecution?NodeSelector
  PreferredDuringSchedulingIgnoredDuringExecution[]PreferredSchedulingTerm
NodeSelector: NodeSelectorTerms[]NodeSelectorTerm
NodeSelectorRequirement: Key Operator Values[]
NodeSelectorTerm: MatchExpressions[]NodeSelectorRequirement MatchFields[]NodeSelectorRequirement
ObjectFieldSelector: APIVersion=apiVersion FieldPath
ObjectReference: Kind Namespace Name UID=uid APIVersion=apiVersion ResourceVersion FieldPath
PersistentVolumeClaimSpec: AccessModes[] Selector^LabelSelector Resources:VolumeResourceRequirements VolumeName StorageClassName?
  VolumeMode? DataSource?TypedLocalObjectReference DataSourceRef?TypedObjectReference VolumeAttributesClassName?
PersistentVolumeClaimTemplate: @metadata Spec:PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource: ClaimName ReadOnly!
PersistentVolumeSource: GCEPersistentDisk=gcePersistentDisk?GCEPersistentDiskVolumeSource
  AWSElasticBlockStore=awsElasticBlockStore?AWSElasticBlockStoreVolumeSource HostPath?HostPathVolumeSource
  Glusterfs?GlusterfsPersistentVolumeSource NFS=nfs?NFSVolumeSource RBD=rbd?RBDPersistentVolumeSource
  Quobyte?QuobyteVolumeSource ISCSI=iscsi?ISCSIPersistentVolumeSource FlexVolume?FlexPersistentVolumeSource
  Cinder?CinderPersistentVolumeSource CephFS=cephfs?CephFSPersistentVolumeSource FC=fc?FCVolumeSource
  Flocker?FlockerVolumeSource AzureFile?AzureFilePersistentVolumeSource VsphereVolume?VsphereVirtualDiskVolumeSource
  AzureDisk?AzureDiskVolumeSource PhotonPersistentDisk?PhotonPersistentDiskVolumeSource
  PortworxVolume?PortworxVolumeSource ScaleIO?ScaleIOPersistentVolumeSource Local?LocalVolumeSource
  StorageOS=storageos?StorageOSPersistentVolumeSource CSI=csi?CSIPersistentVolumeSource
PersistentVolumeSpec: Capacity{} GCEPersistentDisk=gcePersistentDisk?GCEPersistentDiskVolumeSource
  AWSElasticBlockStore=awsElasticBlockStore?AWSElasticBlockStoreVolumeSource HostPath?HostPathVolumeSource
  Glusterfs?GlusterfsPersistentVolumeSource NFS=nfs?NFSVolumeSource RBD=rbd?RBDPersistentVolumeSource
  Quobyte?QuobyteVolumeSource ISCSI=iscsi?ISCSIPersistentVolumeSource FlexVolume?FlexPersistentVolumeSource
  Cinder?CinderPersistentVolumeSource CephFS=cephfs?CephFSPersistentVolumeSource FC=fc?FCVolumeSource
  Flocker?FlockerVolumeSource AzureFile?AzureFilePersistentVolumeSource VsphereVolume?VsphereVirtualDiskVolumeSource
  AzureDisk?AzureDiskVolumeSource PhotonPersistentDisk?PhotonPersistentDiskVolumeSource
  PortworxVolume?PortworxVolumeSource ScaleIO?ScaleIOPersistentVolumeSource Local?LocalVolumeSource
  StorageOS=storageos?StorageOSPersistentVolumeSource CSI=csi?CSIPersistentVolumeSource AccessModes[]
  ClaimRef?ObjectReference PersistentVolumeReclaimPolicy StorageClassName MountOptions[] VolumeMode?
  NodeAffinity?VolumeNodeAffinity VolumeAttributesClassName?
PhotonPersistentDiskVolumeSource: PdID FSType=fsType
PodAffinity: RequiredDuringSchedulingIgnoredDuringExecution[]PodAffinityTerm
  PreferredDuringSchedulingIgnoredDuringExecution[]WeightedPodAffinityTerm
PodAffinityTerm: LabelSelector^LabelSelector Namespaces[] TopologyKey NamespaceSelector^LabelSelector MatchLabelKeys[] MismatchLabelKeys[]
PodAntiAffinity: RequiredDuringSchedulingIgnoredDuringExecution[]PodAffinityTerm
  PreferredDuringSchedulingIgnoredDuringExecution[]WeightedPodAffinityTerm
PodCertificateProjection: SignerName KeyType MaxExpirationSeconds? CredentialBundlePath KeyPath CertificateChainPath
PodDNSConfig: Nameservers[] Searches[] Options[]PodDNSConfigOption
PodDNSConfigOption: Name Value?
PodOS: Name
PodReadinessGate: ConditionType
PodResourceClaim: Name ResourceClaimName? ResourceClaimTemplateName?
PodSchedulingGate: Name
PodSecurityContext: HostNetwork! HostPID! HostIPC! ShareProcessNamespace? HostUsers?
  SELinuxOptions=seLinuxOptions?SELinuxOptions WindowsOptions?WindowsSecurityContextOptions RunAsUser? RunAsGroup?
  RunAsNonRoot? SupplementalGroups[] SupplementalGroupsPolicy? FSGroup=fsGroup?
  FSGroupChangePolicy=fsGroupChangePolicy? Sysctls[]Sysctl SeccompProfile?SeccompProfile
  AppArmorProfile?AppArmorProfile SELinuxChangePolicy=seLinuxChangePolicy?
PodSpec: Volumes[]Volume InitContainers[]Container Containers[]Container EphemeralContainers[]EphemeralContainer
  RestartPolicy TerminationGracePeriodSeconds? ActiveDeadlineSeconds? DNSPolicy=dnsPolicy NodeSelector{}
  ServiceAccountName AutomountServiceAccountToken? NodeName SecurityContext?PodSecurityContext
  ImagePullSecrets[]LocalObjectReference Hostname Subdomain SetHostnameAsFQDN? Affinity?Affinity SchedulerName
  Tolerations[]Toleration HostAliases[]HostAlias PriorityClassName Priority? PreemptionPolicy?
  DNSConfig=dnsConfig?PodDNSConfig ReadinessGates[]PodReadinessGate RuntimeClassName? Overhead{} EnableServiceLinks?
  TopologySpreadConstraints[]TopologySpreadConstraint OS=os?PodOS SchedulingGates[]PodSchedulingGate
  ResourceClaims[]PodResourceClaim Resources?ResourceRequirements HostnameOverride?
PodTemplateSpec: @metadata Spec:PodSpec
PortworxVolumeSource: VolumeID FSType=fsType ReadOnly!
PreferredSchedulingTerm: Weight# Preference:NodeSelectorTerm
Probe: Exec?ExecAction HTTPGet=httpGet?HTTPGetAction TCPSocket=tcpSocket?TCPSocketAction GRPC=grpc?GRPCAction
  InitialDelaySeconds# TimeoutSeconds# PeriodSeconds# SuccessThreshold# FailureThreshold#
  TerminationGracePeriodSeconds?
ProjectedVolumeSource: Sources[]VolumeProjection DefaultMode?
QuobyteVolumeSource: Registry Volume ReadOnly! User Group Tenant
RBDPersistentVolumeSource: CephMonitors=monitors[] RBDImage=image FSType=fsType RBDPool=pool RadosUser=user Keyring
  SecretRef?SecretReference ReadOnly!
RBDVolumeSource: CephMonitors=monitors[] RBDImage=image FSType=fsType RBDPool=pool RadosUser=user Keyring
  SecretRef?LocalObjectReference ReadOnly!
ResourceClaim: Name Request
ResourceFieldSelector: ContainerName Resource Divisor~
ResourceRequirements: Limits{} Requests{} Claims[]ResourceClaim
SELinuxOptions: User Role Type Level
ScaleIOPersistentVolumeSource: Gateway System SecretRef?SecretReference SSLEnabled=sslEnabled! ProtectionDomain
  StoragePool StorageMode VolumeName FSType=fsType ReadOnly!
ScaleIOVolumeSource: Gateway System SecretRef?LocalObjectReference SSLEnabled=sslEnabled! ProtectionDomain StoragePool
  StorageMode VolumeName FSType=fsType ReadOnly!
SeccompProfile: Type LocalhostProfile?
SecretEnvSource: Name Optional?
SecretKeySelector: Name Key Optional?
SecretProjection: Name Items[]KeyToPath Optional?
HostIP: IP=ip
PodIP: IP=ip
SecretReference: Name Namespace
SecretVolumeSource: SecretName Items[]KeyToPath DefaultMode? Optional?
SecurityContext: Capabilities?Capabilities Privileged? SELinuxOptions=seLinuxOptions?SELinuxOptions
  WindowsOptions?WindowsSecurityContextOptions RunAsUser? RunAsGroup? RunAsNonRoot? ReadOnlyRootFilesystem?
  AllowPrivilegeEscalation? ProcMount? SeccompProfile?SeccompProfile AppArmorProfile?AppArmorProfile
ServiceAccountTokenProjection: Audience ExpirationSeconds# Path
SleepAction: Seconds#
StorageOSPersistentVolumeSource: VolumeName VolumeNamespace FSType=fsType ReadOnly! SecretRef?ObjectReference
StorageOSVolumeSource: VolumeName VolumeNamespace FSType=fsType ReadOnly! SecretRef?LocalObjectReference
Sysctl: Name Value
TCPSocketAction: Port# Host
Toleration: Key Operator Value Effect TolerationSeconds?
TopologySpreadConstraint: MaxSkew# TopologyKey WhenUnsatisfiable LabelSelector^LabelSelector MinDomains? NodeAffinityPolicy?
  NodeTaintsPolicy? MatchLabelKeys[]
TypedLocalObjectReference: APIGroup=apiGroup? Kind Name
TypedObjectReference: APIGroup=apiGroup? Kind Name Namespace?
Volume: Name HostPath?HostPathVolumeSource EmptyDir?EmptyDirVolumeSource
  GCEPersistentDisk=gcePersistentDisk?GCEPersistentDiskVolumeSource
  AWSElasticBlockStore=awsElasticBlockStore?AWSElasticBlockStoreVolumeSource GitRepo?GitRepoVolumeSource
  Secret?SecretVolumeSource NFS=nfs?NFSVolumeSource ISCSI=iscsi?ISCSIVolumeSource Glusterfs?GlusterfsVolumeSource
  PersistentVolumeClaim?PersistentVolumeClaimVolumeSource RBD=rbd?RBDVolumeSource Quobyte?QuobyteVolumeSource
  FlexVolume?FlexVolumeSource Cinder?CinderVolumeSource CephFS=cephfs?CephFSVolumeSource Flocker?FlockerVolumeSource
  DownwardAPI?DownwardAPIVolumeSource FC=fc?FCVolumeSource AzureFile?AzureFileVolumeSource
  ConfigMap?ConfigMapVolumeSource VsphereVolume?VsphereVirtualDiskVolumeSource AzureDisk?AzureDiskVolumeSource
  PhotonPersistentDisk?PhotonPersistentDiskVolumeSource Projected?ProjectedVolumeSource
  PortworxVolume?PortworxVolumeSource ScaleIO?ScaleIOVolumeSource StorageOS=storageos?StorageOSVolumeSource
  CSI=csi?CSIVolumeSource Ephemeral?EphemeralVolumeSource Image?ImageVolumeSource
VolumeDevice: Name DevicePath
VolumeMount: Name ReadOnly! RecursiveReadOnly? MountPath SubPath MountPropagation? SubPathExpr
VolumeNodeAffinity: Required?NodeSelector
VolumeProjection: Secret?SecretProjection DownwardAPI?DownwardAPIProjection ConfigMap?ConfigMapProjection
  ServiceAccountToken?ServiceAccountTokenProjection ClusterTrustBundle?ClusterTrustBundleProjection
  PodCertificate?PodCertificateProjection
VolumeResourceRequirements: Limits{} Requests{}
VsphereVirtualDiskVolumeSource: VolumePath FSType=fsType StoragePolicyName StoragePolicyID
WeightedPodAffinityTerm: Weight# PodAffinityTerm:PodAffinityTerm
WindowsSecurityContextOptions: GMSACredentialSpecName=gmsaCredentialSpecName? GMSACredentialSpec=gmsaCredentialSpec?
  RunAsUserName? HostProcess?
DaemonSetUpdateStrategy: Type RollingUpdate?RollingUpdateDaemonSet
DeploymentStrategy: Type RollingUpdate?RollingUpdateDeployment
PodFailurePolicy: Rules[]PodFailurePolicyRule
PodFailurePolicyOnExitCodesRequirement: ContainerName? Operator Values[]
PodFailurePolicyOnPodConditionsPattern: Type Status
PodFailurePolicyRule: Action OnExitCodes?PodFailurePolicyOnExitCodesRequirement
  OnPodConditions[]PodFailurePolicyOnPodConditionsPattern
RollingUpdateDaemonSet: MaxUnavailable# MaxSurge#
RollingUpdateDeployment: MaxUnavailable# MaxSurge#
RollingUpdateStatefulSetStrategy: Partition# MaxUnavailable?
StatefulSetUpdateStrategy: Type RollingUpdate?RollingUpdateStatefulSetStrategy
SuccessPolicy: Rules[]SuccessPolicyRule
SuccessPolicyRule: SucceededIndexes? SucceededCount?
CSINodeDriver: Name NodeID TopologyKeys[] Allocatable?VolumeNodeResources
HPAScalingPolicy: Type Value# PeriodSeconds#
HPAScalingRules: StabilizationWindowSeconds? SelectPolicy? Policies[]HPAScalingPolicy Tolerance?
HorizontalPodAutoscalerBehavior: ScaleUp?HPAScalingRules ScaleDown?HPAScalingRules
PodDisruptionBudgetSpec: MinAvailable? Selector^LabelSelector MaxUnavailable? UnhealthyPodEvictionPolicy?
VolumeAttachmentSource: PersistentVolumeName? InlineVolumeSpec?PersistentVolumeSpec
VolumeAttachmentSpec: Attacher Source:VolumeAttachmentSource NodeName
VolumeNodeResources: Count?
ExemptPriorityLevelConfiguration: NominalConcurrencyShares? LendablePercent?
FlowDistinguisherMethod: Type
FlowSchemaSpec: PriorityLevelConfiguration:PriorityLevelConfigurationReference MatchingPrecedence#
  DistinguisherMethod?FlowDistinguisherMethod Rules[]PolicyRulesWithSubjects
FlowSubject: Kind User?FlowUserSubject Group?FlowUserSubject ServiceAccount?FlowServiceAccountSubject
FlowServiceAccountSubject: Namespace Name
FlowUserSubject: Name
LimitResponse: Type Queuing?QueuingConfiguration
LimitedPriorityLevelConfiguration: NominalConcurrencyShares# LimitResponse:LimitResponse LendablePercent?
  BorrowingLimitPercent?
NonResourcePolicyRule: Verbs[] NonResourceURLs[]
PolicyRulesWithSubjects: Subjects[]FlowSubject ResourceRules[]ResourcePolicyRule
  NonResourceRules[]NonResourcePolicyRule
PriorityLevelConfigurationReference: Name
PriorityLevelConfigurationSpec: Type Limited?LimitedPriorityLevelConfiguration
  Exempt?ExemptPriorityLevelConfiguration
QueuingConfiguration: Queues# HandSize# QueueLengthLimit#
ResourcePolicyRule: Verbs[] APIGroups=apiGroups[] Resources[] ClusterScope! Namespaces[]
AllocationResult: Devices:DeviceAllocationResult NodeSelector?NodeSelector AllocationTimestamp?
CELDeviceSelector: Expression
CapacityRequirements: Requests{}
DeviceAllocationConfiguration: Source Requests[] Opaque?OpaqueDeviceConfiguration
DeviceAllocationResult: Results[]DeviceRequestAllocationResult Config[]DeviceAllocationConfiguration
DeviceAttribute: IntValue=int? BoolValue=bool? StringValue=string? VersionValue=version?
DeviceClaim: Requests[]DeviceRequest Constraints[]DeviceConstraint Config[]DeviceClaimConfiguration
DeviceClaimConfiguration: Requests[] Opaque?OpaqueDeviceConfiguration
DeviceConstraint: Requests[] MatchAttribute? DistinctAttribute?
DeviceRequest: Name Exactly?ExactDeviceRequest FirstAvailable[]DeviceSubRequest
DeviceRequestAllocationResult: Request Driver Pool Device AdminAccess? Tolerations[]DeviceToleration
  BindingConditions[] BindingFailureConditions[] ShareID? ConsumedCapacity{}
DeviceSelector: CEL=cel?CELDeviceSelector
DeviceSubRequest: Name DeviceClassName Selectors[]DeviceSelector AllocationMode Count# Tolerations[]DeviceToleration
  Capacity?CapacityRequirements
DeviceToleration: Key Operator Value Effect TolerationSeconds?
ExactDeviceRequest: DeviceClassName Selectors[]DeviceSelector AllocationMode Count# AdminAccess?
  Tolerations[]DeviceToleration Capacity?CapacityRequirements
OpaqueDeviceConfiguration: Driver Parameters?
ResourceClaimSpec: Devices:DeviceClaim
ResourceClaimTemplateSpec: @metadata Spec:ResourceClaimSpec
`;
