/** Advice of reports on pages, which have no options. */
import t from 'tap';
import { renderAdvice } from '../../../../src/service/web/agents/advice.ts';

void t.test('advice that names an option says where options belong', (t) => {
  const note = /Options belong to sandbox-kit on the command line\./;
  t.match(renderAdvice('Raise the limit, or send fewer requests with --rate').text, note);
  t.match(renderAdvice('Waive this with `--allow-http`.').text, /<code>--allow-http<\/code>/);
  for (const plain of [
    'Send a string, even when the reply contains tool calls.',
    'Use `sandbox-kit check --cert FILE --key FILE`.',
    'Paths such as /a--b stay as they are.',
  ]) {
    t.notMatch(renderAdvice(plain).text, note, plain);
  }
  t.end();
});
