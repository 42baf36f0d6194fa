package main

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

func TestVectors(t *testing.T) {
	text, err := os.ReadFile(os.Getenv("VECTORS"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Requests []struct{ Name, Secret, Method, Path, Timestamp, Body, Signature string }
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors.Requests {
		if SignRequest(v.Secret, v.Method, v.Path, v.Timestamp, []byte(v.Body)) != v.Signature {
			t.Error(v.Name)
		}
	}
	fmt.Println("verified", len(vectors.Requests))
}
