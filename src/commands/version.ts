import { buildStamp } from '../machinery/build-stamp.js';
import { GIT_VERSION } from '../machinery/names.js';
import { defineTopic } from '../options/flag-table.js';
import { type Command, EXIT } from './command.js';
import { readFlags } from './read-flags.js';
import { OUTPUT_FLAG, wantsJson } from './output.js';

const topic = defineTopic({ key: 'version', title: 'version', flags: { output: OUTPUT_FLAG } });

export const version: Command = {
  name: 'version',
  summary: "tells Binnacle's version and the Kubernetes version it is",
  usage: ['version [--output=json]'],
  about: "Tells Binnacle's own version, the Kubernetes version whose API it serves, and what it was built from.",
  topics: [topic],
  words: [],
  async run(args, { print }) {
    const { values } = readFlags([topic], args);
    const facts = {
      binnacle: buildStamp.version,
      kubernetes: GIT_VERSION,
      commit: buildStamp.commit,
      built: buildStamp.date,
      node: process.version,
      platform: `${process.platform}/${process.arch}`,
    };
    if (wantsJson(values.version.output)) print(`${JSON.stringify(facts, undefined, 2)}\n`);
    else {
      print(`Binnacle ${facts.binnacle}\nKubernetes ${facts.kubernetes}\n`);
      if (facts.commit !== '') print(`commit ${facts.commit}\n`);
      print(`built ${facts.built}\nNode.js ${facts.node} on ${facts.platform}\n`);
    }
    return EXIT.done;
  },
};
