import type { Outcome } from './measurement.ts';

/** A defect that no failed requirement names, and why. */
interface Exception {
  outcome: Outcome;
  reason: string;
}

const MEDIA_TYPE = 'The specification does not name the media type of a response.';
const LENIENT = 'The report shows accepted metadata of another type as observed behavior.';
const TARGET = 'Response times are targets, and a missed target is a warning.';
const NO_JSON = 'No response can be judged; the one cause names the mistake and its place.';

/** The exceptions by sandbox and defect. */
export const exceptions: Readonly<Record<string, Exception>> = {
  'node-http/malformed-dies': {
    outcome: 'blocked',
    reason: 'A sandbox that does not come back is not judged; the cause names the suspects.',
  },
  'node-http/double-encoded': { outcome: 'blocked', reason: NO_JSON },
  'express/default-body-limit': {
    outcome: 'missed',
    reason: 'The specification states no limit of a chat request, and no probe is as large.',
  },
  'koa/stringified-body': { outcome: 'missed', reason: MEDIA_TYPE },
  'koa/repeated-call-id': {
    outcome: 'missed',
    reason: 'The specification says that id is a string, not that it is unique.',
  },
  'koa/constant-chat-id': {
    outcome: 'missed',
    reason: 'No requirement compares the chat_id of different sessions.',
  },
  'h3/any-role': {
    outcome: 'warning',
    reason: 'The specification names the roles, but not what a sandbox does with another one.',
  },
  'h3/any-metadata': { outcome: 'missed', reason: LENIENT },
  'h3/cached-by-messages': {
    outcome: 'missed',
    reason: 'No probe sends the same messages in two sessions.',
  },
  'hapi/joi-convert': { outcome: 'missed', reason: LENIENT },
  'hapi/slow-health': { outcome: 'warning', reason: TARGET },
  'hapi/slow-chat': { outcome: 'warning', reason: TARGET },
  'polka/no-content-type': { outcome: 'missed', reason: MEDIA_TYPE },
  'polka/html-content-type': { outcome: 'missed', reason: MEDIA_TYPE },
  'polka/byte-order-mark': { outcome: 'blocked', reason: NO_JSON },
  'polka/slow-overlap': { outcome: 'warning', reason: TARGET },
  'polka/users-in-object': {
    outcome: 'missed',
    reason: 'Random ids never equal a name that all objects have, such as constructor.',
  },
  'polka/no-return-after-error': {
    outcome: 'elsewhere',
    reason: 'The crash follows the response, so only later requests show it.',
  },
  'polka/delete-does-nothing': {
    outcome: 'missed',
    reason: 'No endpoint reads a user, and a refused second creation is legal.',
  },
  'elysia/normalized-body': { outcome: 'missed', reason: LENIENT },
  'elysia/last-call-only': {
    outcome: 'missed',
    reason: 'A missing second call of the same tool leaves no trace in the response.',
  },
  'elysia/case-insensitive-users': {
    outcome: 'warning',
    reason: 'The specification does not say whether ids ignore case.',
  },
  'python-http/one-thread': { outcome: 'warning', reason: TARGET },
  'python-http/python-repr': { outcome: 'blocked', reason: NO_JSON },
  'python-http/unicode-word': {
    outcome: 'missed',
    reason: 'The specification does not say whether letters beyond ASCII are alphanumeric.',
  },
};
