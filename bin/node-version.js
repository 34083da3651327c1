// This file is valid in every version of Node, so that an old one can say what is wrong.
const [major, minor] = process.versions.node.split('.').map(Number);
const isTooOld = major < 22 || (major === 22 && minor < 19);

/** What is wrong with the version of Node that runs this; undefined if nothing is. */
export const nodeVersionProblem = isTooOld
  ? `sandbox-kit needs Node 22.19 or newer, but this is Node ${process.versions.node}. Install a newer Node, then try again.`
  : undefined;
