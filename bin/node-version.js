// This file is valid in every version of Node, so that an old one can say what is wrong.
import { createRequire } from 'node:module';

function isTooOld(version) {
  const [major, minor] = version.split('.').map(Number);
  return major < 22 || (major === 22 && minor < 19);
}

/** Whether npm installed a newer Node (the package `node`) in the current directory or above. */
function isNewerInstalled() {
  try {
    const { version } = createRequire(`${process.cwd()}/package.json`)('node/package.json');
    return !isTooOld(version);
  } catch {
    return false;
  }
}

const { node } = process.versions;

/** The problem with the version of Node that runs this; undefined if nothing is. */
export const nodeVersionProblem = isTooOld(node)
  ? `sandbox-kit needs Node 22.19 or newer, but this is Node ${node}.\n${
      isNewerInstalled()
        ? 'npm installed a newer Node here, which npx sandbox-kit and npm run use.'
        : 'Install a newer Node, then try again.'
    }`
  : undefined;
