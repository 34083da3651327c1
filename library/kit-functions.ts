import { isMessage } from '../src/contract/index.ts';
import type { KitFunctions } from '../src/service/index.ts';

/** Returns the functions of other packages that the pages of the service use. Each is loaded when it is called. */
export function createKitFunctions(): KitFunctions {
  return {
    async diagnose({ url, voiceUrl, apiKey, timeoutMs, signal }) {
      const [{ runDiagnosis }, { diagnosisJson, findAgentVersion }] = await Promise.all([
        import('./run-diagnosis.ts'),
        import('../conformance/index.ts'),
      ]);
      const voice = voiceUrl === undefined ? undefined : { url: voiceUrl };
      const diagnosis = await runDiagnosis({ url, apiKey, timeoutMs, signal, voice });
      const body = diagnosis.exchanges.findLast(({ endpoint }) => endpoint === 'health')?.json;
      return {
        ...diagnosisJson(diagnosis),
        ...(isMessage('Health', body) && { health: body.status }),
        ...findAgentVersion(diagnosis.exchanges),
      };
    },
    async planTest(test) {
      const { planTest } = await import('./agent-tests.ts');
      return planTest(test);
    },
    async runTest(test, run) {
      const { runTest } = await import('./agent-tests.ts');
      return runTest(test, run);
    },
    judgeReply,
    async findRequirement(id) {
      const { requirement, requirementIds } = await import('../conformance/index.ts');
      const known = requirementIds.find((each) => each === id);
      if (known === undefined) return undefined;
      const { level, section, rule, reason } = requirement(known);
      return { id, level, section, rule, reason };
    },
    async renderLoadReport(report) {
      const { htmlReport } = await import('../load/index.ts');
      return htmlReport(report);
    },
    async readDocument(text, name) {
      const { readDocumentText } = await import('./input/documents.ts');
      return readDocumentText(text, name);
    },
    async writeYaml(document) {
      const { writeDocumentText } = await import('./input/documents.ts');
      return writeDocumentText(document);
    },
    async readStarters() {
      const { readScenarioSet } = await import('./input/scenario-files.ts');
      return { general: readScenarioSet('general'), shop: readScenarioSet('shop') };
    },
  };
}

/** Judges the response to a chat request as a check does. */
const judgeReply: KitFunctions['judgeReply'] = async (request, { status, json, latencyMs }) => {
  const { judgeExchange } = await import('../conformance/index.ts');
  const headers = { 'content-type': 'application/json' };
  const findings = judgeExchange({
    request: {
      method: 'POST',
      path: '/v1/chat/completions',
      headers,
      body: JSON.stringify(request),
    },
    response: { status, headers, body: JSON.stringify(json) },
    durationMs: latencyMs,
  });
  return (findings ?? [])
    .filter(({ verdict }) => verdict === 'fail')
    .map(({ id, rule, pointer, expected, received }) => ({
      id,
      rule,
      pointer,
      expected,
      received,
    }));
};
