import { isMessage } from '../src/contract/index.ts';
import type { KitFunctions } from '../src/service/index.ts';

/** Returns the functions of other packages that the pages of the service use. Each is loaded when it is called. */
export function createKitFunctions(): KitFunctions {
  return {
    async diagnose({ url, voiceUrl, apiKey, timeoutMs, signal }) {
      const [{ runDiagnosis }, { diagnosisJson }] = await Promise.all([
        import('./run-diagnosis.ts'),
        import('../conformance/index.ts'),
      ]);
      const voice = voiceUrl === undefined ? undefined : { url: voiceUrl };
      const diagnosis = await runDiagnosis({ url, apiKey, timeoutMs, signal, voice });
      const body = diagnosis.exchanges.findLast(({ endpoint }) => endpoint === 'health')?.json;
      return {
        ...diagnosisJson(diagnosis),
        ...(isMessage('Health', body) && { health: body.status }),
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
