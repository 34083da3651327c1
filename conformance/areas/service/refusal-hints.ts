import type { RefusalHints } from '../../engine/checks/refusal-hints.ts';

const keyHint = {
  accepted: 'Check the API key before anything else, on every path of the interface.',
};
const contentTypeHint = {
  accepted:
    'Check Content-Type first: only application/json and application/x-protobuf are supported.',
};

/** Hints for requests that the service must refuse, by step. */
export const serviceRefusalHints: RefusalHints = {
  'none key': keyHint,
  'wrong key': keyHint,
  'no id': {
    accepted: 'Check that every span has gen_ai.conversation.id before you store any of them.',
  },
  'over 10 MB': { accepted: 'Count the bytes as they arrive and stop reading after 10 MB.' },
  'text/plain': contentTypeHint,
  'application/octet-stream': contentTypeHint,
  'application/xml': contentTypeHint,
  unknown: {
    accepted: 'Close only conversations that have spans; respond with 404 to any other id.',
  },
};
