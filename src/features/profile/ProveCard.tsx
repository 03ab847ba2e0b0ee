import { ShieldCheck } from 'lucide-react';
import { t } from '../../i18n/i18n.ts';
import { paths } from '../../lib/paths.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { Card, CardBody } from '../../ui/Card.tsx';

/** Leads to the page where anybody can try out what the product says of itself. */
export function ProveCard({ id }: { id?: string }) {
  return (
    <Card
      {...(id !== undefined && { id })}
      title={t('profile.prove.title')}
      icon={<ShieldCheck />}
      description={t('profile.prove.text')}
    >
      <CardBody>
        <div>
          <ButtonLink to={paths.prove}>{t('profile.prove.open')}</ButtonLink>
        </div>
      </CardBody>
    </Card>
  );
}
