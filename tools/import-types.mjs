// Turns the recorded facts of kube-apiserver's types into the catalogue's notation: `node tools/import-types.mjs types.json`.
//
// It ran once. The notation in src/schema/catalogue is the source since then and is edited by hand; the tool stays to
// show where the first text came from and to compare with a later release of kube-apiserver.
import { readFileSync, writeFileSync, mkdirSync } from 'node:fs';

const facts = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const folder = process.argv[3] ?? 'src/schema/catalogue';

const groupNames = {
  core: '',
  admission: 'admission.k8s.io',
  admissionregistration: 'admissionregistration.k8s.io',
  apidiscovery: 'apidiscovery.k8s.io',
  apiserverinternal: 'internal.apiserver.k8s.io',
  authentication: 'authentication.k8s.io',
  authorization: 'authorization.k8s.io',
  certificates: 'certificates.k8s.io',
  coordination: 'coordination.k8s.io',
  discovery: 'discovery.k8s.io',
  events: 'events.k8s.io',
  flowcontrol: 'flowcontrol.apiserver.k8s.io',
  imagepolicy: 'imagepolicy.k8s.io',
  networking: 'networking.k8s.io',
  node: 'node.k8s.io',
  rbac: 'rbac.authorization.k8s.io',
  resource: 'resource.k8s.io',
  scheduling: 'scheduling.k8s.io',
  storage: 'storage.k8s.io',
  storagemigration: 'storagemigration.k8s.io',
  apiextensions: 'apiextensions.k8s.io',
  meta: 'meta.k8s.io',
  audit: 'audit.k8s.io',
  apiregistration: 'apiregistration.k8s.io',
  kubelet: 'kubelet.config.k8s.io',
  podsecurity: 'pod-security.admission.config.k8s.io',
};

const scalars = {
  string: 'string',
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  float64: 'double',
  '[]byte': 'bytes',
  'interface{}': 'any',
  'types.UID': 'string',
  'types.NodeName': 'string',
  'time.Duration': 'duration',
  'resource.Quantity': 'quantity',
  'metav1.Duration': 'duration',
  'metav1.Time': 'time',
  'metav1.MicroTime': 'microTime',
  'intstr.IntOrString': 'intOrString',
  'runtime.RawExtension': 'rawExtension',
  'runtime.Unknown': 'rawExtension',
};
/** Types whose JSON is a form of its own: scalars in the notation. */
const special = {
  'meta.v1.Time': 'time',
  'meta.v1.MicroTime': 'microTime',
  'meta.v1.Duration': 'duration',
  'meta.v1.FieldsV1': 'fieldsV1',
  'apiextensions.v1.JSON': 'any',
  'apiextensions.v1.JSONSchemaPropsOrArray': 'schemaOrArray',
  'apiextensions.v1.JSONSchemaPropsOrBool': 'schemaOrBool',
  'apiextensions.v1.JSONSchemaPropsOrStringArray': 'schemaOrStringArray',
};
const qualifiers = {
  metav1: ['meta.v1'],
  corev1: ['core.v1'],
  apiv1: ['core.v1'],
  authenticationv1: ['authentication.v1'],
  authnv1: ['authentication.v1'],
  authorizationv1: ['authorization.v1'],
};

const files = new Map();
for (const path of Object.keys(facts)) {
  const file = fileOf(path);
  if (file !== undefined) files.set(file, { path, types: facts[path] });
}
// The second version of the admission review has the first one's types, and has no facts of its own.
files.set('admission.v1beta1', { path: 'k8s.io/api/admission/v1beta1', types: facts['k8s.io/api/admission/v1'] });

mkdirSync(folder, { recursive: true });
for (const [file, { path, types }] of files) writeFileSync(`${folder}/${file}.types`, formatFile(file, path, types));

function fileOf(path) {
  const known = {
    'k8s.io/kubelet/config/v1': 'kubelet.v1',
    'k8s.io/pod-security-admission/admission/api/v1': 'podsecurity.v1',
    'k8s.io/apimachinery/pkg/api/resource': undefined,
    'k8s.io/apimachinery/pkg/runtime': undefined,
    'k8s.io/apimachinery/pkg/util/intstr': undefined,
  };
  if (path in known) return known[path];
  return path.split('/').slice(-2).join('.');
}

function formatFile(file, path, types) {
  const [short, version] = file.split('.');
  const group = groupNames[short] ?? short;
  const lines = [
    `package io.k8s.${path.slice('k8s.io/'.length).replaceAll('/', '.')}`,
    `version ${group === '' ? version : `${group}/${version}`}`,
  ];
  for (const [name, declaration] of Object.entries(types)) {
    if (`${file}.${name}` in special) continue;
    if (declaration.kind === 'alias') lines.push(...formatAlias(file, name, declaration));
    else lines.push(...formatStruct(file, name, declaration));
  }
  return `${lines.join('\n')}\n`;
}

function formatAlias(file, name, { under, enum: values, markers }) {
  if (/^(interface|func|watch)\b/.test(under) || (file === 'meta.v1' && name === 'Common')) return [];
  if (under === 'string') {
    const isEnum = (markers ?? []).includes('enum');
    const words = (values ?? []).map((word) => (/^[^\s"]+$/.test(word) ? word : JSON.stringify(word)));
    return ['', `${isEnum ? 'enum' : 'string'} ${[name, ...words].join(' ')}`];
  }
  const message = ['ExtraValue', 'Verbs'].includes(name) ? ' message' : '';
  return ['', `alias ${name} ${typeOf(file, under).text}${message}`];
}

function formatStruct(file, name, { fields = [], markers = [] }) {
  const isKind = /(^|\.)TypeMeta$/.test(fields[0]?.go ?? '');
  const atomic = markers.find((marker) => /^(structType|mapType)=/.test(marker))?.split('=')[1];
  const head = [isKind ? 'kind' : 'type', name];
  if (atomic !== undefined) head.push(atomic);
  if (markers.includes('union')) head.push('union');
  const rows = (isKind ? fields.slice(1) : fields)
    .filter((field) => field.name !== '-')
    .map((field) => formatField(file, field));
  return ['', head.join(' '), ...rows];
}

function formatField(file, field) {
  if (field.inline) return `  ...${typeOf(file, field.go).text}${field.proto ? ` ${field.proto}` : ''}`;
  const { text } = typeOf(file, field.go);
  const omit = field.omitzero ? '??' : field.omitempty ? '?' : '';
  const words = [`${field.name}${omit}`, text, String(field.proto ?? '-')];
  const optional = field.optional ? true : field.required ? false : field.omitempty === true;
  if (optional !== (field.omitempty === true)) words.push(optional ? 'optional' : 'required');
  if (field.listType) words.push(`list=${[field.listType, ...(field.listMapKeys ?? [])].join(',')}`);
  if (field.mapType ?? field.structType) words.push(`map=${field.mapType ?? field.structType}`);
  if (field.patchStrategy) words.push(`patch=${field.patchStrategy}`);
  if (field.patchMergeKey) words.push(`key=${field.patchMergeKey}`);
  if ((field.markers ?? []).includes('nullable')) words.push('nullable');
  if ((field.markers ?? []).includes('unionDiscriminator')) words.push('discriminator');
  if (field.default !== undefined) words.push(`default=${constant(field.default)}`);
  return `  ${words.join(' ')}`;
}

function constant(text) {
  const known = { 'ref(AzureDataDiskCachingReadWrite)': '"ReadWrite"', 'ref(AzureSharedBlobDisk)': '"Shared"' };
  return known[text] ?? text;
}

function typeOf(file, go) {
  if (scalars[go] !== undefined) return { text: scalars[go] };
  if (go.startsWith('*')) return { text: `*${typeOf(file, go.slice(1)).text}` };
  if (go.startsWith('[]')) return { text: `[]${typeOf(file, go.slice(2)).text}` };
  const map = /^map\[([^\]]+)\](.*)$/.exec(go);
  if (map) return { text: `map[${map[1].includes('.') ? 'string' : map[1]}]${typeOf(file, map[2]).text}` };
  return { text: reference(file, go) };
}

function reference(file, go) {
  const [short, version] = file.split('.');
  const dot = go.indexOf('.');
  const name = go.slice(dot + 1);
  const homes =
    dot < 0
      ? [file]
      : (qualifiers[go.slice(0, dot)] ??
        (version === 'v1' ? [] : [`${short}.v1`]).concat(['core.v1', 'meta.v1', 'authentication.v1']));
  const home = homes.find((candidate) => files.get(candidate)?.types[name] !== undefined);
  if (home === undefined) throw new Error(`${file}: no type ${go}`);
  const known = special[`${home}.${name}`];
  if (known !== undefined) return known;
  return home === file ? name : `${home}.${name}`;
}
