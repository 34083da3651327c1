import { goTo, type Pages } from './pages.ts';

/**
 * Leads browsers that open the path of a form, such as after a reload, to the page above it: from
 * `/evals/save` to `/evals`. Call it before the forms are added, and the returned function after.
 */
export function collectFormPaths({ app, page }: Pages): () => void {
  const paths = new Set<string>();
  app.addHook('onRoute', ({ method, url }) => {
    if (method === 'POST') paths.add(url);
  });
  const hasPage = (url: string): boolean => app.hasRoute({ method: 'GET', url });
  return () => {
    for (const path of paths) {
      const above = path.replace(/\/[^/]*$/, '');
      // A document may have the name of a form, such as `run`.
      if (hasPage(path) || hasPage(`${above}/:id`)) continue;
      page(path, ({ context, params }) => {
        const filled = above.replaceAll(/:(\w+)/g, (_part, name: string) =>
          encodeURIComponent(params[name] ?? ''),
        );
        return goTo(context, filled === '' ? '/' : filled);
      });
    }
  };
}
