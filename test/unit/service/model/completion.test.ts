/** The one reader of model replies: an object is read from every format that models use. */
import t from 'tap';
import { readCompletion } from '../../../../src/service/model/completion.ts';

const withContent = (content: unknown, more = {}): object => ({
  choices: [{ message: { content }, ...more }],
});

void t.test('the object is read without a reasoning, a code fence, or a sentence', (t) => {
  const json = '{"line":"Hi"}';
  for (const [content, around] of [
    [json, ''],
    [`\n<think>{a} or {b}?</think> ${json}`, ' '],
    [`\`\`\`json\n${json}\n\`\`\``, '```json\n\n```'],
    [`Here it is: ${json} Done.`, 'Here it is:  Done.'],
  ] as const) {
    t.same(readCompletion(withContent(content)), { object: { line: 'Hi' }, json, around }, content);
  }
  t.end();
});

void t.test('a reply without an object is described and not quoted', (t) => {
  const message = { content: '{}' };
  for (const [completion, problem] of [
    ['text', 'it is not a chat completion with one choice'],
    [{ choices: [] }, 'it is not a chat completion with one choice'],
    [{ choices: [{ message }, { message }] }, 'it is not a chat completion with one choice'],
    [{ choices: [{ text: '{}' }] }, 'its choice has no message'],
    [{ choices: [{ message: { ...message, refusal: 'I will not.' } }] }, 'the model refuses'],
    [withContent('{}', { finish_reason: 'content_filter' }), 'a content filter stopped it'],
    [withContent('{}', { finish_reason: 'length' }), 'it was cut off'],
    [withContent(null), 'it is empty'],
    [withContent(' \n'), 'it is empty'],
    [withContent('} secret {'), 'it is not one JSON object'],
    [withContent('{"a":1} {"b":2}'), 'it is not one JSON object'],
    [withContent('<think>{"a":1}</think>'), 'it is not one JSON object'],
    [withContent('["secret"]'), 'it is not one JSON object'],
  ] as const) {
    t.equal(readCompletion(completion), problem, JSON.stringify(completion));
  }
  t.end();
});
