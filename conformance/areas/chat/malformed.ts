/** Chat requests one edit away from a valid one, which are refused (spec 4.5, 7). */
import { listAt } from '../../../src/contract/index.ts';
import { malformedBodyHint } from '../../engine/checks/refusal-hints.ts';
import { always, to } from '../../engine/mutants/combinators.ts';
import { refuseInstead } from '../sandbox-responses.ts';
import {
  bodyEdits,
  remove,
  replace,
  replaceType,
  type RequestEdit,
} from '../../engine/request-edit.ts';
import { defineRefusals } from '../refusals.ts';
import { GREETING, user } from './requests.ts';

const MESSAGES_HINT = { accepted: 'Check that `messages` is an array of objects.' };
const ROLE_HINT = {
  accepted: 'Check that the role of every message is system, user, or assistant.',
};
const CONTENT_HINT = { accepted: 'Check that the content of every message is a string.' };

/** An edit of a request with this number of messages. With another number, it isn't recognized. */
const amongMessages =
  (count: number) =>
  ({ edit, ...rest }: RequestEdit): RequestEdit => ({
    ...rest,
    edit: (accepted) =>
      edit({ ...accepted, messages: Array.from({ length: count }, () => user(GREETING)) }),
    isIn: (request) => listAt(request.json, '/messages').length === count && rest.isIn(request),
  });

const inOnlyMessage = amongMessages(1);
const inOneOfTwo = amongMessages(2);

const nullContent = inOnlyMessage(replaceType('/messages/0/content', null));

/** The requirements about malformed chat requests. */
export const malformed = defineRefusals(
  {
    endpoint: 'chat',
    probes: ['chat/refusals'],
    reason:
      'A malformed request that succeeds hides a mistake, which shows up later as a wrong score.',
    notAnObject: 'CHAT-066',
    isRefused: always,
  },
  {
    'CHAT-060': {
      rule: 'A chat request without `messages` gets a 400 response.',
      statements: ['2.7.1', '4.5.6', '7.b3', '7.b4'],
      hint: MESSAGES_HINT,
      edits: { 'messages missing': remove('/messages') },
    },
    'CHAT-061': {
      rule: 'A chat request whose `messages` is not an array of objects gets a 400 response.',
      statements: ['2.7.1', '4.5.6', '7.b3'],
      hint: MESSAGES_HINT,
      edits: {
        'messages a string': replaceType('/messages', GREETING),
        'messages an object': replaceType('/messages', user(GREETING)),
        'messages null': replaceType('/messages', null),
        'message a string': inOnlyMessage(replaceType('/messages/0', GREETING)),
      },
    },
    'CHAT-062': {
      rule: 'A message whose `role` is missing or not a string gets a 400 response.',
      statements: ['2.7.3', '4.5.6', '7.b3'],
      hint: ROLE_HINT,
      edits: {
        'role missing': inOnlyMessage(remove('/messages/0/role')),
        'role a number': inOnlyMessage(replaceType('/messages/0/role', 1)),
      },
    },
    'CHAT-063': {
      level: 'should',
      rule: 'A message with a `role` other than `system`, `user`, and `assistant` gets a 400 response.',
      statements: ['2.7.3', '4.5.6', '7.b3'],
      hint: ROLE_HINT,
      edits: {
        'role tool': inOnlyMessage(replace('/messages/0/role', 'tool')),
        'role unknown': inOnlyMessage(replace('/messages/0/role', 'customer')),
        'role unknown in the last of two': {
          ...inOneOfTwo(replace('/messages/1/role', 'customer')),
          name: 'role-unknown-in-the-last',
        },
      },
    },
    'CHAT-064': {
      rule: 'A message without `content` gets a 400 response.',
      statements: ['2.7.4', '4.5.6', '7.b3'],
      hint: CONTENT_HINT,
      edits: {
        'content missing': inOnlyMessage(remove('/messages/0/content')),
        'content missing in the first of two': {
          ...inOneOfTwo(remove('/messages/0/content')),
          name: 'content-missing-in-the-first',
        },
      },
    },
    'CHAT-065': {
      rule: 'A message whose `content` is a number, an object, or `null` gets a 400 response.',
      statements: ['2.7.4', '4.5.6', '7.b3'],
      hint: CONTENT_HINT,
      edits: {
        'content a number': inOnlyMessage(replaceType('/messages/0/content', 42)),
        'content an object': inOnlyMessage(replaceType('/messages/0/content', { text: GREETING })),
        'content null': nullContent,
      },
      mutants: {
        'content-null-500': {
          description: 'Responds with 500 if `content` is null.',
          transform: refuseInstead(to('chat', nullContent.isIn), 500, 'server_error'),
        },
      },
    },
    'CHAT-066': {
      rule: 'A chat request whose body is not a JSON object gets a 400 response.',
      statements: ['4.5.4', '4.5.6', '7.b3'],
      hint: malformedBodyHint,
      edits: bodyEdits,
    },
  },
);
