//! Whose annotations count in judgements.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use super::super::reading::read;
use super::super::{Store, StoreResult, Writer, query};
use super::annotate::StoreAnnotations;
use super::curated::remarks;
use crate::{AnnotationCounts, Remark};
use lapwing_model::{Annotation, Id, Record, matches_pattern};

impl Store {
    /// Leaves the annotations of others out of everything that is read from here on, unless their author is listed
    /// (`*` stands for any text) or an allowed signer signed them. Returns those left out that would hold.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn honour(&self, authors: &[String]) -> StoreResult<Vec<Remark>> {
        // Reading ends with a rollback, which this has to outlast.
        let honour = |connection: &Connection| -> StoreResult<Vec<Remark>> {
            connection.execute_batch(
                "CREATE TEMP TABLE IF NOT EXISTS disregarded_annotation (id TEXT PRIMARY KEY); \
                 DELETE FROM temp.disregarded_annotation;",
            )?;
            let others = "id NOT IN (SELECT annotation FROM trusted_annotation)";
            let mut others = read::annotations(connection, others, [])?;
            others.retain(|it| !authors.iter().any(|author| matches_pattern(author, &it.by)));
            let ids: BTreeSet<Id> = others.iter().map(|it| it.id).collect();
            let all = remarks(connection)?.into_iter();
            let left_out = all
                .filter(|it| ids.contains(&it.annotation.id) && it.active().is_some())
                .collect();
            let sql = "INSERT INTO temp.disregarded_annotation (id) VALUES (?1)";
            for id in ids {
                query::execute(connection, sql, [id.to_string()])?;
            }
            Ok(left_out)
        };
        honour(&self.connection).map_err(|error| error.at(&self.path))
    }
}

/// Returns the annotations that are not left out.
pub(super) fn regarded(connection: &Connection) -> StoreResult<Vec<Annotation>> {
    let sql =
        "SELECT EXISTS (SELECT 1 FROM temp.sqlite_master WHERE name = 'disregarded_annotation')";
    let condition = match query::value::<bool>(connection, sql, [])? {
        true => "id NOT IN (SELECT id FROM temp.disregarded_annotation)",
        false => "TRUE",
    };
    read::annotations(connection, condition, [])
}

impl StoreAnnotations<'_> {
    /// Returns the annotations that were made in this store.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn own(&self) -> StoreResult<BTreeSet<Id>> {
        self.store
            .read(|connection| ids(connection, "signer IS NULL"))
    }

    /// Counts the annotations that are not among some known ones.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn besides(&self, known: &BTreeSet<Id>) -> StoreResult<AnnotationCounts> {
        let mut counts = AnnotationCounts::default();
        let all = self.all()?.into_iter().map(|it| it.annotation);
        for annotation in all.filter(|it| !known.contains(&it.id)) {
            counts.add(&annotation);
        }
        Ok(counts)
    }

    /// Returns the annotations that were made in this store, and those that an allowed signer signed.
    pub(crate) fn trusted(&self) -> StoreResult<BTreeSet<Id>> {
        self.store.read(|connection| ids(connection, "TRUE"))
    }
}

fn ids(connection: &Connection, condition: &str) -> StoreResult<BTreeSet<Id>> {
    let sql = format!("SELECT annotation FROM trusted_annotation WHERE {condition}");
    let ids: Vec<String> = query::column(connection, &sql, [])?;
    Ok(ids.iter().filter_map(|id| id.parse().ok()).collect())
}

impl Writer<'_> {
    /// Puts an annotation that is made in this store.
    ///
    /// # Errors
    /// Those of [`Writer::put`].
    pub fn put_own(&mut self, annotation: &Annotation) -> StoreResult<()> {
        self.put(&Record::Annotation(annotation.clone()))?;
        self.trust_annotation(annotation.id, None)
    }

    /// Remembers that an annotation was made in this store, or by an allowed signer.
    pub(crate) fn trust_annotation(&mut self, id: Id, signer: Option<&str>) -> StoreResult<()> {
        let sql = "INSERT INTO trusted_annotation (annotation, signer) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        self.execute(sql, params![id.to_string(), signer]).map(drop)
    }

    /// Returns the annotations that were made in this store, and those that an allowed signer signed.
    pub(crate) fn trusted(&self) -> StoreResult<BTreeSet<Id>> {
        self.at_path(|connection| ids(connection, "TRUE"))
    }

    /// Returns all annotations and which of them hold.
    pub(crate) fn remarks(&self) -> StoreResult<Vec<Remark>> {
        self.at_path(remarks)
    }

    /// Returns whether the store has an annotation.
    pub(crate) fn has_annotation(&self, id: Id) -> StoreResult<bool> {
        self.has("SELECT EXISTS (SELECT 1 FROM annotation WHERE id = ?1)", id)
    }

    /// Returns whether the store has a session.
    pub(crate) fn has_session(&self, id: Id) -> StoreResult<bool> {
        self.has("SELECT EXISTS (SELECT 1 FROM session WHERE id = ?1)", id)
    }

    fn has(&self, sql: &str, id: Id) -> StoreResult<bool> {
        self.at_path(|connection| query::value(connection, sql, [id.to_string()]))
    }
}
