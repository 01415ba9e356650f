// The bill of materials of a release in CycloneDX's JSON: what the bundle contains and what an install brings, from
// package-lock.json, which has the exact versions, licences and hashes.
import { createHash } from 'node:crypto';

/** `bundled`: folders in node_modules of what the bundle contains. `timestamp`: ISO 8601, the same for the same commit. */
export function sbomOf({ lock, bundled, timestamp }) {
  const root = lock.packages[''];
  const folders = [...new Set([...bundled, ...installed(lock)])].sort((a, b) => (a < b ? -1 : 1));
  const isBundled = new Set(bundled);
  const refOf = (folder) => purl(nameOf(folder), lock.packages[folder].version);
  const own = purl(root.name ?? lock.name, root.version);
  const direct = folders.filter((folder) => isBundled.has(folder) || Object.hasOwn(root.dependencies, nameOf(folder)));
  const body = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      timestamp,
      component: {
        type: 'application',
        'bom-ref': own,
        name: root.name ?? lock.name,
        version: root.version,
        purl: own,
        licenses: [licenseOf(root.license)],
      },
    },
    components: folders.map((folder) => componentOf(folder, lock.packages[folder], isBundled.has(folder))),
    dependencies: [
      { ref: own, dependsOn: direct.map(refOf) },
      ...folders.map((folder) => ({ ref: refOf(folder), dependsOn: needsOf(lock, folder, folders).map(refOf) })),
    ],
  };
  return { ...body, serialNumber: `urn:uuid:${uuidOf(JSON.stringify(body))}` };
}

/** All that `npm install` of the package brings on some platform. */
export function installed(lock) {
  return Object.keys(lock.packages).filter((folder) => folder !== '' && lock.packages[folder].dev !== true);
}

function componentOf(folder, entry, isBundled) {
  const ref = purl(nameOf(folder), entry.version);
  return {
    type: 'library',
    'bom-ref': ref,
    name: nameOf(folder),
    version: entry.version,
    scope: entry.optional === true ? 'optional' : 'required',
    hashes: [
      { alg: 'SHA-512', content: Buffer.from(entry.integrity.replace('sha512-', ''), 'base64').toString('hex') },
    ],
    licenses: [licenseOf(entry.license)],
    purl: ref,
    properties: [{ name: 'binnacle:bundled', value: String(isBundled) }],
  };
}

/** The SPDX identifier, or the expression where there are several. */
function licenseOf(license) {
  if (typeof license !== 'string') throw new Error('a package names no licence');
  return / (?:OR|AND|WITH) /.test(license) ? { expression: license } : { license: { id: license } };
}

function needsOf(lock, folder, folders) {
  const { dependencies = {}, optionalDependencies = {} } = lock.packages[folder];
  return Object.keys({ ...dependencies, ...optionalDependencies }).flatMap((name) => {
    const found = [`${folder}/node_modules/${name}`, `node_modules/${name}`].find((one) => folders.includes(one));
    return found === undefined ? [] : [found];
  });
}

function nameOf(folder) {
  return folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function purl(name, version) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** By its content, so that a release that is made again is the same to the byte. */
function uuidOf(text) {
  const hex = createHash('sha256').update(text).digest('hex').slice(0, 32).split('');
  hex[12] = '8';
  hex[16] = 'a';
  return hex.join('').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
