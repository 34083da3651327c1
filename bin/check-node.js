// Every entry point of the library imports this file first: an old Node would fail in another file,
// with a message that does not name the cause.
import { nodeVersionProblem } from './node-version.js';

if (nodeVersionProblem !== undefined) {
  const error = new Error(nodeVersionProblem);
  // The message says all; a stack trace of the import would only hide it.
  error.stack = `Error: ${nodeVersionProblem}`;
  throw error;
}
