import type { LoadReport } from '../../../contract/index.ts';
import { HTML_TYPE, pageHeaders } from '../../../http-kit/pages.ts';
import { attachReport, findReport, REPORT_CHARACTERS_MAX } from '../../operations/agent-reports.ts';
import { findDocument } from '../../operations/documents.ts';
import { parseBoundedJson } from '../../requests/bounded-json.ts';
import { RequestError } from '../../requests/errors.ts';
import { servicePageHeaders } from '../frame/page-frame.ts';
import { goTo, type Pages } from '../frame/pages.ts';
import { renderAgent, type AgentPageOptions } from './load-agent-page.ts';
import { renderReportPage } from './report-page.ts';

/** Adds what attaches reports to an agent, and shows them. */
export function addReportRoutes(pages: Pages, options: AgentPageOptions): void {
  const { store, kit } = options;
  pages.form(
    '/agents/:id/reports',
    async ({ ownerId, context, params: { id }, form }) => {
      const value = await readReportFile(form);
      const { ignored = 'attached' } = await attachReport(options, ownerId, id, value);
      return goTo(context, `/agents/${id}`, { notice: ignored });
    },
    async (problem, sent) => {
      if (problem.code === 'not_found') throw problem;
      const mistake = { uploadProblem: problem.message };
      return { status: 422, page: await renderAgent(options, sent, mistake) };
    },
  );
  const findOne = async (ownerId: string, { id, report }: { id: string; report: string }) => ({
    agent: await findDocument(store, ownerId, 'agent', id),
    report: await findReport(options, ownerId, id, report),
  });
  pages.page('/agents/:id/reports/:report', async ({ ownerId, context, params }) =>
    renderReportPage(await findOne(ownerId, params), { hasCharts: kit !== undefined }, context),
  );
  pages.app.get<{ Params: { id: string; report: string } }>(
    '/agents/:id/reports/:report/charts',
    async (request, reply) => {
      const { ownerId } = await pages.findViewer(request);
      const { report } = await findOne(ownerId, request.params);
      if (!kit || report.kind !== 'load') {
        throw new RequestError('not_found', 'Only a load report has charts.');
      }
      // The page says itself which script it may run, so that it also does so as a file.
      reply.headers(pageHeaders).header('content-security-policy', "frame-ancestors 'none'");
      return reply.type(HTML_TYPE).send(await kit.renderLoadReport(report.report as LoadReport));
    },
  );
  pages.app.get<{ Params: { id: string; report: string } }>(
    '/agents/:id/reports/:report/json',
    async (request, reply) => {
      const { ownerId } = await pages.findViewer(request);
      const { report } = await findOne(ownerId, request.params);
      const filename = `${report.kind}-${report.id}.json`;
      reply.headers(servicePageHeaders).type('application/json');
      reply.header('content-disposition', `attachment; filename="${filename}"`);
      return reply.send(JSON.stringify(report.report, null, 2));
    },
  );
}

/** Returns the value in the uploaded JSON file. @throws RequestError. */
async function readReportFile(form: FormData): Promise<unknown> {
  const file = form.get('report');
  if (!(file instanceof File) || file.size === 0) {
    throw new RequestError('bad_request', 'Choose the JSON file of a report.');
  }
  if (file.size > 4 * REPORT_CHARACTERS_MAX) {
    const message = `The file is larger than a report may be (${REPORT_CHARACTERS_MAX} characters).`;
    throw new RequestError('too_large', message);
  }
  return parseBoundedJson(await file.text(), 'The file');
}
