import { findDocument } from '../../operations/documents.ts';
import type { AgentTest } from '../../operations/kit-functions.ts';
import { RequestError } from '../../requests/errors.ts';
import { readText } from '../frame/forms.ts';
import { goTo, type Answer, type Pages, type SentForm, type Visit } from '../frame/pages.ts';
import { renderAgentNews } from './agent-page.ts';
import { loadAgentNews, type AgentPageOptions } from './load-agent-page.ts';
import { readLoadTest, renderTestPage, type TestDraft } from './test-pages.ts';

/** The typed values of a test, and the test unless one is invalid. */
interface TestChoice {
  draft: TestDraft;
  test: AgentTest | undefined;
}

/** Adds what starts, shows, and cancels tests of agents. */
export function addTestRoutes({ page, form, live }: Pages, options: AgentPageOptions): void {
  const { store, tests } = options;
  const renderStart = async (
    { ownerId, context, params: { id } }: Visit<'id'>,
    { draft, test }: TestChoice,
    refusal?: string,
  ): Promise<string> => {
    const agent = await findDocument(store, ownerId, 'agent', id);
    const plan = test && (await tests.plan(ownerId, id, test));
    const newest = tests.watch(ownerId, id);
    const running = newest?.end === 'running' ? newest : undefined;
    return renderTestPage({ agent, draft, plan, running, refusal }, context);
  };
  /** Starts the test of a form, or shows what it costs. A test that can't start now keeps its form. */
  const startOrShow = async (sent: SentForm<'id'>, choice: TestChoice): Promise<Answer> => {
    const { ownerId, context, params } = sent;
    const { test } = choice;
    if (!test || readText(sent.form, 'start') !== 'yes') {
      return { status: test ? 200 : 400, page: await renderStart(sent, choice) };
    }
    try {
      await tests.start(ownerId, params.id, test);
    } catch (error) {
      if (!(error instanceof RequestError) || !['conflict', 'busy'].includes(error.code))
        throw error;
      return { status: error.status, page: await renderStart(sent, choice, error.message) };
    }
    return goTo(context, `/agents/${params.id}`);
  };
  const toCheck = async ({ ownerId, params: { id } }: Visit<'id'>, wantsCalls?: boolean) => {
    const agent = await findDocument(store, ownerId, 'agent', id);
    const reports = await store.agentReports.listNewest(ownerId, [agent]);
    const hasVoice = reports.find(({ kind }) => kind === 'connection')?.summary.hasVoice ?? true;
    const test = { kind: 'check', placesCalls: wantsCalls ?? hasVoice } as const;
    return { draft: { ...test, hasVoice }, test };
  };
  page('/agents/:id/check', async (visit) => renderStart(visit, await toCheck(visit)));
  form('/agents/:id/check', async (sent) =>
    startOrShow(sent, await toCheck(sent, readText(sent.form, 'calls') !== '')),
  );
  page('/agents/:id/load', (visit) => renderStart(visit, readLoadTest(visit.query)));
  form('/agents/:id/load', (sent) => startOrShow(sent, readLoadTest(sent.form)));
  form('/agents/:id/cancel', async ({ ownerId, context, params: { id } }) => {
    await tests.cancel(ownerId, id);
    return goTo(context, `/agents/${id}`);
  });
  live('/agents/:id/live', (visit) => async () => {
    return renderAgentNews(await loadAgentNews(options, visit), visit.context);
  });
}
