import { createKitFunctions } from '../../library/kit-functions.ts';
import { isMessage, SERVICE_API_KEY_HEADER } from '../../src/contract/index.ts';
import type { RunningService } from '../../src/service/index.ts';
import type { Terminal } from '../output/terminal.ts';
import { writeOutcome, writeRow } from './rows.ts';
import { CONVERSATION, conversationLines, sendTraces } from './traces.ts';

/** Starts a service with two evals. */
export async function startDemoService(): Promise<RunningService> {
  const { startService } = await import('../../src/service/index.ts');
  return startService({
    kit: createKitFunctions(),
    seed: {
      evals: [
        {
          id: 'looked-up',
          name: 'Looks up the order',
          category: 'tool_use',
          kind: 'tool_called',
          params: { name: 'look_up_order' },
        },
        {
          id: 'hours',
          name: 'States the opening hours',
          category: 'task_completion',
          kind: 'contains',
          params: { text: 'open' },
        },
      ],
      settings: { evals: ['looked-up', 'hours'] },
    },
  });
}

/**
 * Chats with the agent, sends the traces as an OpenTelemetry exporter does, closes the conversation,
 * and shows the scores. Returns whether both evals passed. With `keep`, also shows the URL of the
 * session's page, which otherwise ends with the demo.
 */
export async function showService(
  service: RunningService,
  agentUrl: string,
  { out, keep }: { out: Terminal; keep: boolean },
): Promise<boolean> {
  const headers = { [SERVICE_API_KEY_HEADER]: service.apiKey };
  await sendTraces(`${service.url}/v1/traces`, headers, agentUrl);
  writeRow(out, 'sent', `${conversationLines.length} turns by OTLP, conversation ${CONVERSATION}`);

  const closed = await fetch(`${service.url}/v1/sessions/${CONVERSATION}/end`, {
    method: 'POST',
    headers,
  });
  if (!isMessage('ClosedConversation', await closed.json())) return false;
  await fetch(`${service.adminUrl}/drain`, { method: 'POST' });
  const results = await fetch(`${service.url}/api/prod-evaluations/sessions/`, { headers });
  const page: unknown = await results.json();
  if (!isMessage('ProductionSessionPage', page)) return false;
  const [session] = page.items;
  for (const { eval_name, outcome, reasoning } of session?.eval_outcomes ?? []) {
    writeOutcome(out, outcome, `${eval_name}: ${reasoning}`);
  }
  if (keep) writeRow(out, 'page', session?.url ?? '');
  return session?.outcome_summary.passed_count === 2;
}
