/** Half of a surrogate pair in a trace: JSON can have it, UTF-8 and databases can't. */
import t from 'tap';
import { withService } from '../../support/services/service.ts';
import { makeSpan, makeTraceRequest } from '../../support/traces/otlp.ts';

void t.test('half of a surrogate pair becomes U+FFFD, and nothing is lost', async (t) => {
  const { send } = await withService(t);
  const conversationId = 'lone-\uD800-id';
  const span = makeSpan({
    conversationId,
    user: 'x\uDC00y',
    attributes: { 'tag-\uD800': 'value-\uDFFF' },
  });
  const body = makeTraceRequest([span]);
  const sent = await send('POST /v1/traces', { body });
  t.equal(sent.status, 200, sent.text);
  const id = encodeURIComponent(conversationId.toWellFormed());
  const closed = await send(`POST /v1/sessions/${id}/end`);
  t.equal(closed.status, 200, closed.text);
  t.match(closed.json, { conversation_id: 'lone-\uFFFD-id' });
});
