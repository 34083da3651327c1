/** The session page marks values that were not recorded as missing instead of showing null. */
import t from 'tap';
import { makeSpan } from '../../helpers/otlp.ts';
import { makeContainsEval, withService } from '../../helpers/service.ts';

void t.test('A tool call without recorded arguments or result is marked as such', async (t) => {
  const { admin, trace, end, drain, production } = await withService(t);
  await admin('POST /evals', makeContainsEval('says', 'way'));
  await admin('PUT /settings', { evals: ['says'] });
  const parts = [
    { type: 'tool_call', id: 'a', name: 'find', arguments: { order: 7 } },
    { type: 'tool_call', id: 'b', name: 'log' },
    { type: 'text', content: 'It is on its way.' },
  ];
  const output = JSON.stringify([{ role: 'assistant', parts }]);
  await trace(makeSpan({ attributes: { 'gen_ai.output.messages': output } }));
  const tool = { 'gen_ai.tool.name': 'notify', 'gen_ai.tool.call.result': 'null' };
  await trace(makeSpan({ operation: 'execute_tool', attributes: tool }));
  await end('conv-1');
  await drain();
  const [item] = (await production()).items;
  const page = await (await fetch(item?.url ?? '')).text();
  const details = [...page.matchAll(/<details[^>]*>([^]*?)<\/details>/g)].map(
    ([, content = '']) => content,
  );
  const detailsOf = (name: string): string =>
    details.find((content) => content.includes(`<summary>${name}</summary>`)) ?? '';
  t.match(detailsOf('find'), /&quot;order&quot;: 7[^]*no result recorded/);
  t.match(detailsOf('log'), /no arguments recorded[^]*no result recorded/);
  t.match(detailsOf('notify'), /<pre>null<\/pre>/, 'a recorded null is shown');
});
