import { createRoot } from 'react-dom/client';
import { createBrowserRouter } from 'react-router-dom';
import { App } from './App.tsx';
import { type Bootstrapped, bootstrap } from './bootstrap.ts';
import { routes } from './routes.tsx';

function render(bootstrapped: Bootstrapped) {
  const container = document.getElementById('root');
  if (container === null) throw new Error('index.html has no #root');
  const router = createBrowserRouter(routes);
  bootstrapped.setNavigate((path) => void router.navigate(path));
  createRoot(container).render(<App store={bootstrapped.store} router={router} />);
}

void bootstrap().then(render);
