-- The consents to an installation of an app are removed with it; those that stayed are removed here.

DELETE FROM consents g
 WHERE g.client_id LIKE 'dyn~%'
   AND NOT EXISTS (SELECT 1 FROM clients c WHERE c.application_id = g.application_id AND c.client_id = g.client_id);

CREATE INDEX consents_of_instances ON consents (application_id, client_id) WHERE client_id LIKE 'dyn~%';
