/** A field under another name is found where it is certain, and only there. */
import t from 'tap';
import {
  findMisspelled,
  findMisspelledFields,
  findViolations,
} from '../../../src/contract/index.ts';

const names: readonly [name: string, keys: string[], found: string | undefined][] = [
  ['user_id', ['userId'], 'userId'],
  ['user_id', ['user-id'], 'user-id'],
  ['user_id', ['UserID'], 'UserID'],
  ['user_id', ['userid'], 'userid'],
  ['message', ['mesage'], 'mesage'],
  ['choices', ['choice'], 'choice'],
  ['created_at', ['craeted_at'], 'craeted_at'],
  ['status', ['statuss'], 'statuss'],
  ['status', ['state'], undefined],
  ['role', ['rule'], undefined],
  ['user_id', ['userId', 'user-id'], undefined],
  ['user_id', ['user_id', 'userId'], undefined],
  ['content', ['text'], undefined],
];

void t.test('a misspelled key is found if it is the only similar one', (t) => {
  for (const [name, keys, found] of names) {
    t.equal(findMisspelled(name, keys, []), found, `${name} in ${keys.join()}`);
  }
  t.equal(findMisspelled('message', ['messages'], ['messages']), undefined, 'another field');
  t.end();
});

void t.test('a violation names the key, at every level', (t) => {
  const reply = { choices: [{ mesage: { role: 'assistant', content: '' } }] };
  t.match(findViolations('ChatResponse', reply), [
    { pointer: '/choices/0/message', received: 'nothing: found `mesage`; the name is `message`' },
  ]);
  t.end();
});

void t.test('an optional field is found by its spelling, and not by a slip', (t) => {
  const message = { role: 'assistant', content: '', toolCalls: [] };
  const reply = { choices: [{ message, finishReason: 'stop' }], sesion_id: 'x', sessionID: 'y' };
  t.same(findMisspelledFields('ChatResponse', reply), [
    { pointer: '', found: 'sessionID', name: 'session_id', isRequired: false },
    { pointer: '/choices/0', found: 'finishReason', name: 'finish_reason', isRequired: false },
    { pointer: '/choices/0/message', found: 'toolCalls', name: 'tool_calls', isRequired: false },
  ]);
  t.end();
});
