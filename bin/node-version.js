// This file is valid in every version of Node, so that an old one can say what is wrong.
import { createRequire } from 'node:module';

const REQUIRED = '22.19';

function isTooOld(version) {
  const [requiredMajor, requiredMinor] = REQUIRED.split('.').map(Number);
  const [major, minor] = version.split('.').map(Number);
  return major < requiredMajor || (major === requiredMajor && minor < requiredMinor);
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

const HOW_TO_RUN = 'Run your programs with npx node, and the kit with npx sandbox-kit.';

const { node } = process.versions;

/** The problem with the version of Node that runs this; undefined if nothing is. */
export const nodeVersionProblem = isTooOld(node)
  ? `sandbox-kit needs Node ${REQUIRED} or newer, but this is Node ${node}.\n${
      isNewerInstalled()
        ? 'npm installed a newer Node here.'
        : 'Install a newer Node, for example with npm install --save-dev node@26.'
    }\n${HOW_TO_RUN}`
  : undefined;
