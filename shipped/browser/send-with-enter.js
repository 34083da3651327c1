/** Makes Enter send the form of a message, and says so; Shift+Enter is a new line. */
for (const box of findAll(document, '[data-enter-sends]', HTMLTextAreaElement)) {
  const { form } = box;
  if (!form) continue;
  findElement(form, '[data-part=enter-hint]', HTMLElement).hidden = false;
  box.addEventListener('keydown', (event) => {
    const { key, shiftKey, isComposing, repeat } = event;
    if (key !== 'Enter' || shiftKey || isComposing) return;
    event.preventDefault();
    if (!repeat) form.requestSubmit();
  });
}
